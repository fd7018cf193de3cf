"""`thalweg new controller` and `thalweg check` of controllers."""

from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.control.check import check_controller

EXAMPLES = Path(__file__).parents[2] / "examples" / "controllers"
HEAD = "import thalweg\n\n\nclass Bad(thalweg.Controller):\n    def on_ack(self, event, path):\n        "


@pytest.mark.parametrize("ours", ["cubic", "reno", "c4", str(EXAMPLES / "aimd.py"), str(EXAMPLES / "copa.py")])
def test_controllers_that_are_right_pass(ours: str) -> None:
    assert [found.what for found in check_controller(ours, n=12) if found] == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("self.window = 1000", "the window is 1000 bytes at"),
        ("self.window = 40 * path.mtu", "no back-off: the window was 57600 bytes before an outage"),
        ("self.window = max(2880, self.window) if path.now < 1 else 0", "no progress: "),
        ("self.window = [][0]", "IndexError: list index out of range (in on_ack of"),
    ],
)
def test_a_rule_that_is_broken_is_named_with_a_scenario_that_shows_it(
    body: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(HEAD + body + "\n")
    assert main(["check", "bad.py"]) == 1
    said = capfd.readouterr().err
    assert says in said
    file = sorted(tmp_path.glob("broken-*.toml"))[0]
    assert f"thalweg run {file.name} --seed 1" in said
    assert main(["check", file.name]) == 0


def test_a_new_controller_passes_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "controller", "my-first"]) == 0
    assert "class MyFirst(" in (tmp_path / "my-first.py").read_text()
    assert main(["check", "my-first.py"]) == 0
    assert main(["new", "controller", "my-first"]) == 2
    assert main(["new", "controller"]) == 2
    assert main(["new", "controller", "../x"]) == 2
    assert main(["new", "a.toml", "b.toml"]) == 2
