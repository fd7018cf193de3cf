"""A scenario that cannot be run: one message that names the place and what is accepted, and status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('rtt = "40 ms"', 'rtt = "40 ms"\nrat = "1 Mbps"', 6, "rat"),
        ('"20 Mbps"', '"20 ms"', 4, "20 ms"),
        ('"20 Mbps"', "20", 4, "20"),
        ('"200 kB"', '"-200 kB"', 11, "-200 kB"),
        ('"cubic"', '"cubik"', 10, 'unknown controller "cubik"'),
        ('"cubic"', '"cubic:hystart=maybe"', 10, "accepted: on, off"),
        ('flow = "main"', 'flow = "other"', 14, 'there is no flow "other"; accepted: main'),
        ('"completion"', '"happiness"', 15, 'unknown metric "happiness"; accepted: completion, closed'),
        ('download = "200 kB"', "", 8, "has no workload"),
        ('"20 Mbps"', '"0 bps"', 4, "for ever moves nothing"),
        ('buffer = "1 bdp"', '[[path.change]]\nat = "0 s"\nrate = "0 bps"', 8, "can never finish"),
        ('"20 Mbps"', '"1 kbps"', None, '"600 s" is over before flow "main" can finish on this path'),
        ('"5 s"', '"700 s"', 16, "is beyond the end of the trial"),
        ("[path]", "[path", 3, ""),
    ],
)
def test_a_scenario_that_is_wrong_is_refused_at_its_line(
    old: str, new: str, line: int | None, says: str, scenario_file: Path, capsys: Capture
) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    scenario_file.write_text(text.replace(old, new), encoding="utf-8")
    message = refusal(["run", str(scenario_file)], capsys)
    place = str(scenario_file) if line is None else f"{scenario_file}:{line}"
    assert message.startswith(f"error: {place}: ")
    assert says in message


def test_a_scenario_without_flows_is_refused(scenario_file: Path, capsys: Capture) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    scenario_file.write_text(text[: text.index("[[flow]]")], encoding="utf-8")
    assert "there is no flow; accepted: one or more [[flow]]" in refusal(["run", str(scenario_file)], capsys)


def test_an_empty_file_is_refused(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "empty.toml"
    file.touch()
    assert "title" in refusal(["run", str(file)], capsys)


def test_a_file_that_is_not_utf8_is_refused_at_its_line(scenario_file: Path, capsys: Capture) -> None:
    scenario_file.write_bytes(scenario_file.read_bytes() + "# é\n".encode("latin-1"))
    message = refusal(["run", str(scenario_file)], capsys)
    assert message.startswith(f"error: {scenario_file}:17: ")
    assert "UTF-8" in message


def test_a_missing_file_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert "no such file" in refusal(["run", str(tmp_path / "nowhere.toml")], capsys)


def test_a_wrong_option_is_named_as_it_was_written(scenario_file: Path, capsys: Capture) -> None:
    file = str(scenario_file)
    assert '--controller main=cubik: unknown controller "cubik"' in refusal(
        ["run", file, "--controller", "main=cubik"], capsys
    )
    assert "--set path.rate=fast" in refusal(["run", file, "--set", "path.rate=fast"], capsys)
    assert "--set time_limit=10 ms" in refusal(["run", file, "--set", "time_limit=10 ms"], capsys)
    twice = ["-c", "main=cubic", "-c", "main=reno"]
    assert "--controller main=...: given twice" in refusal(["run", file, *twice], capsys)


def test_one_wrong_scenario_keeps_a_suite_from_starting(
    scenario_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    (scenario_file.parent / "wrong.toml").write_text("title = 1", encoding="utf-8")
    message = refusal(["suite", str(scenario_file.parent), "--out", str(tmp_path / "result")], capsys)
    assert "wrong.toml:1: " in message
    assert not (tmp_path / "result").exists()


def refusal(arguments: list[str], capture: Capture) -> str:
    """The one message of a refused command."""
    assert main(arguments) == 2
    said = capture.readouterr()
    assert said.out == ""
    assert said.err.count("error: ") == 1
    assert len(said.err.splitlines()) == 1
    return said.err
