"""`thalweg new controller` and `thalweg check` of controllers."""

import tomllib
from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.engine.controllers.start_crate import TEXTS, crate, crates_of_checkout
from thalweg.experiments.checking.check import check_controller
from thalweg.experiments.checking.sequences import check_sequences

EXAMPLES = Path(__file__).parents[2] / "examples" / "controllers"
AIMD = """self.window += path.mtu * event.newly_acked / self.window

    def on_lost(self, event, path):
        self.window = max(self.window / 2, 2 * path.mtu)
"""
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
        (f"{AIMD}\n    ecn = 'ect0'", "marks are not answered: with "),
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


def test_who_hears_of_no_marks_sends_no_ect_unless_it_says_so(tmp_path: Path) -> None:
    # On the same paths a queue drops what carries none.
    for name, more, answers in (("without", "", True), ("with", "\n    ecn = 'ect0'\n", False)):
        file = tmp_path / f"{name}.py"
        file.write_text(HEAD + AIMD + more)
        found = [breach.what for breach in check_controller(str(file), n=9) if breach]
        assert (found == []) is answers, found


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


def test_the_example_in_rust_is_a_new_crate() -> None:
    # crates/sim/tests/outside.rs compiles and runs its program.
    folder = EXAMPLES.parent / "rust-controller"
    crates = crates_of_checkout()
    assert crates is not None
    assert {path: (folder / path).read_text() for path in TEXTS} == crate("aimd", folder, crates)


def test_a_new_crate_depends_on_the_checkout_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "controller", "my-first", "--rust"]) == 0
    assert 'name: "my-first"' in Path("my-first/src/controller.rs").read_text()
    manifest = tomllib.loads(Path("my-first/Cargo.toml").read_text())
    assert manifest["package"]["name"] == "my-first-controller"
    for dependency in manifest["dependencies"].values():
        assert (tmp_path / "my-first" / dependency["path"] / "Cargo.toml").is_file()
    for arguments, says in [
        (["controller", "my-first", "--rust"], "my-first exists already"),
        (["controller", "cubic", "--rust"], "is a built-in name"),
        (["controller", "other", "--crates", "nowhere"], "nowhere: it has no control/Cargo.toml"),
        (["mine.toml", "--rust"], "--rust and --crates require thalweg new controller"),
    ]:
        assert main(["new", *arguments]) == 2
        assert says in capfd.readouterr().err
    assert not Path("other").exists()


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_examples_stand_every_sequence_of_events(example: Path) -> None:
    found = [broken for broken in check_sequences(str(example), n=60) if broken]
    assert found == []


@pytest.mark.parametrize(
    ("handlers", "says"),
    [
        ("def on_lost(self, event, path):\n        self.window *= 0.5", "bytes; accepted: two packets (2504)"),
        (
            "def on_timeout(self, event, path):\n        self.pacing = float('nan')",
            "after on_timeout pacing is nan",
        ),
        ("def on_ecn(self, event, path):\n        self.window = 1 / (event.ce - 1)", "ZeroDivisionError"),
        ("def on_lost(self, event, path):\n        self.window = 10**400", "accepted: a finite number, 0 or more"),
        ("def on_lost(self, event, path):\n        self.window = __import__('numpy').int64(12520)", None),
        ("def on_seed(self, window, path):\n        self.window = -1", None),
        ("def on_sent(self, event, path):\n        self.quantum = 1", "the quantum is 1; accepted: a packet"),
        ("def on_spurious_loss(self, event, path):\n        event.nothing", "has no attribute 'nothing'"),
    ],
)
def test_a_sequence_that_breaks_a_rule_is_told_with_its_events(
    handlers: str, says: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.py").write_text(HEAD + "pass\n\n    " + handlers + "\n")
    found = [broken for broken in check_sequences("odd.py") if broken]
    if says is None:  # a number of any kind, and no sequence has a remembered window
        assert found == []
        return
    assert len(found) > 20
    assert says in found[0].what
    assert "odd.py:" in found[0].what
    assert found[0].events
    assert [broken for broken in check_sequences("odd.py") if broken] == found, "the same seed, the same sequences"


def test_check_tells_of_a_sequence_that_no_random_path_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "controller", "mine"]) == 0
    text = Path("mine.py").read_text()
    Path("mine.py").write_text(text + "\n    def on_ecn(self, event, path):\n        self.window = 0\n")
    assert main(["check", "mine.py"]) == 1
    said = capfd.readouterr()
    assert "after on_ecn the window is 0 bytes" in said.err
    assert "of 100 random sequences of events passed" in said.out
