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
        ('"cubic"', '"cubic:start=fast"', 10, "accepted: classic, hystart, hystart-linux"),
        ('flow = "main"', 'flow = "other"', 14, 'there is no flow "other"; accepted: main'),
        ('"completion"', '"happiness"', 15, 'unknown metric "happiness"; accepted: completion, closed'),
        ('download = "200 kB"', "", 8, "has no workload"),
        ('"20 Mbps"', '"0 bps"', 4, "never transmits a packet"),
        ('buffer = "1 bdp"', '[[path.change]]\nat = "0 s"\nrate = "0 bps"', 8, "can never finish"),
        ('"200 kB"', '"20 GB"', None, '"600 s" is too short for flow "main" to finish on this path'),
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
    where = str(scenario_file) if line is None else f"{scenario_file}:{line}"
    assert message.startswith(f"error: {where}: ")
    assert says in message


@pytest.mark.parametrize("arguments", [["run", "--live"], ["shell"], ["rig"]])
def test_a_shared_medium_is_refused_where_directions_are_played_one_by_one(
    arguments: list[str], scenario_file: Path, capsys: Capture
) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    scenario_file.write_text(text.replace("[path]", '[path]\nmedium = "half-duplex"'), encoding="utf-8")
    program = ["--", "true"] if arguments == ["shell"] else []
    message = refusal([*arguments, str(scenario_file), *program], capsys)
    assert "medium" in message
    assert "cannot be combined with" in message


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


def test_one_wrong_scenario_keeps_a_suite_from_starting(
    scenario_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    (scenario_file.parent / "wrong.toml").write_text("title = 1", encoding="utf-8")
    message = refusal(["suite", str(scenario_file.parent), "--out", str(tmp_path / "result")], capsys)
    assert "wrong.toml:1: " in message
    assert not (tmp_path / "result").exists()


BYTES = b"x\xff".decode(errors="surrogateescape")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", BYTES],
        ["run", "FILE", "--controller", f"main={BYTES}"],
        ["run", "FILE", "-c", f"{BYTES}=cubic"],
        ["run", "FILE", "--set", f"title={BYTES}"],
        ["run", "FILE", "--set", f"{BYTES}=1"],
        ["run", "FILE", "--trials", BYTES],
        ["run", "FILE", "--stack", BYTES],
        ["run", "FILE", "--trace", f"{BYTES}.parquet"],
        ["run", "FILE", f"--plot={BYTES}.svg"],
        ["run", "FILE", "--live", "--bound", BYTES],
        ["run", "--", BYTES],
        ["suite", BYTES],
        ["suite", "c4", "--only", BYTES],
        ["suite", "FOLDER", "--out", BYTES],
        ["suite", "FOLDER", "--format", BYTES],
        ["report", BYTES, "-o", "x.html"],
        ["compare", BYTES, BYTES],
        ["replay", BYTES, "short", "0"],
        ["study", "fairness", "--controller", BYTES],
        ["study", "transient", "--series", BYTES],
        ["study", "stacks", "--out", BYTES],
        ["list", BYTES],
        ["probe", "analyze", BYTES],
        ["quic", "get", BYTES, "--download", "1MB"],
        ["shell", BYTES, "--", "true"],
        ["shell", "FILE", "--peer", BYTES, "--", "true"],
        ["rig", "FILE", "--bound", BYTES],
        [f"--{BYTES}"],
        [BYTES],
    ],
)
def test_an_argument_that_is_not_utf8_is_refused(
    arguments: list[str], scenario_file: Path, capsys: Capture
) -> None:
    names = {"FILE": str(scenario_file), "FOLDER": str(scenario_file.parent)}
    message = refusal([names.get(argument, argument) for argument in arguments], capsys)
    assert "x\\udcff" in message
    assert "is not UTF-8; accepted: arguments in UTF-8" in message


def test_a_scenario_file_whose_name_is_not_utf8_keeps_a_suite_from_starting(
    scenario_file: Path, capsys: Capture
) -> None:
    scenario_file.rename(scenario_file.with_name(f"{BYTES}.toml"))
    message = refusal(["suite", str(scenario_file.parent), "--out", "never"], capsys)
    assert "the name x\\udcff.toml is not UTF-8" in message


def test_a_folder_whose_name_is_not_utf8_may_be_where_we_are(
    scenario_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = scenario_file.parent / BYTES
    here.mkdir()
    monkeypatch.chdir(here)
    for ending in ("parquet", "csv"):
        assert main(["run", str(scenario_file), "--trace", f"trial.{ending}"]) == 0
    assert {file.name for file in here.iterdir()} == {"trial.parquet", "trial.csv"}


def refusal(arguments: list[str], capture: Capture) -> str:
    """The one message of a refused command."""
    assert main(arguments) == 2
    said = capture.readouterr()
    assert said.out == ""
    assert said.err.count("error: ") == 1
    assert len(said.err.splitlines()) == 1
    return said.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fairness", "-c", "nosuch"], "--controller 'nosuch': flow.0.controller: unknown controller \"nosuch\""),
        (["fairness", "--rate", "0Mbps"], "--rate '0Mbps': link.0.rate: \"0 bps\" never transmits a packet"),
        (["transient", "--duration", "1e9s", "-c", "reno"], "--duration '1e9s': `time_limit = \"1e9s\"`: "),
        (["harm", "--queue", "fq-codel:flows=-1"], "--queue 'fq-codel:flows=-1': `queue  = { model = "),
    ],
)
def test_a_study_refuses_a_value_by_the_option_that_has_it(
    arguments: list[str], says: str, capsys: Capture
) -> None:
    assert refusal(["study", *arguments], capsys).startswith(f"error: {says}")
