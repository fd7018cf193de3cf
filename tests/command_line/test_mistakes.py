"""Typical mistakes, and the message of each: it says what to write instead, in the words of scenario files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thalweg.cli import main

Capture = pytest.CaptureFixture[str]

OF_THE_IMPLEMENTATION = re.compile(
    r"invalid type|invalid value|internally|tagged|sequence|serde|struct |enum |\bu8\b|u32|u64|f64|\bmap\b|"
    r"NoneType|Traceback|variant |DeTable|duplicate key"
)
"""Words that mean nothing to the author of a scenario."""

IN_THE_FILE = [
    ("[path]", "[[path]]", "path is one table: write [path]"),
    ("[[flow]]", "[flow]", "flows are a list: write [[flow]]"),
    ("[[pass]]", "[pass]", "pass criteria are a list: write [[pass]]"),
    ('rtt = "40 ms"', 'rtt = "40 ms"\n[path.change]\nat = "1 s"', "changes are a list: write [[path.change]]"),
    ('rate = "20 Mbps"', "rate = 20", '20 has no unit; accepted: a text with a unit, such as "20 Mbps"'),
    ('rate = "20 Mbps"', "rate = 2.5e7", "has no unit"),
    ('rate = "20 Mbps"', 'rate = "20"', '"20" has no unit'),
    ('rate = "20 Mbps"', 'rate = "20 Mb"', 'unknown unit "Mb"'),
    ('rate = "20 Mbps"', 'bandwidth = "20 Mbps"', 'unknown key "bandwidth" (did you mean "rate"?)'),
    ('rtt = "40 ms"', 'delay = "40 ms"', '(did you mean "rtt", of both directions together?)'),
    ('rate = "20 Mbps"', 'rates = "20 Mbps"', 'did you mean "rate"?'),
    ('rtt = "40 ms"', 'rtt = "40ms"\nloss = 1', "1 has no unit"),
    ('rtt = "40 ms"', 'rtt = "40 ms"\nloss = "1"', "is always lost"),  # the download can never finish
    ('rtt = "40 ms"', 'rtt = "40 ms"\nloss = { model = "randon", rate = "1 %" }', '"randon"'),
    ('rtt = "40 ms"', 'rtt = "40 ms"\nloss = { rate = "1 %" }', 'the key "model" is missing'),
    ('rtt = "40 ms"', 'rtt = "40 ms"\njitter = "5 ms"', ""),
    ('rtt = "40 ms"', 'rtt = "40 ms"\njitter = "wifi"', 'jitter = { model = "wifi", mean = "7 ms" }'),
    ('rtt = "40 ms"', 'rtt = "40 ms"\nqueue = "codel"', ""),
    ('rtt = "40 ms"', 'rtt = "40 ms"\nqueue = "codle"', 'did you mean "codel"?'),
    ('buffer = "1 bdp"', 'buffer = "100 B"', "holds no packet"),
    ('buffer = "1 bdp"', 'buffer = "0.001 bdp"', "holds no packet"),
    ('buffer = "1 bdp"', "buffer = 10", "10 has no unit"),
    ('rtt = "40 ms"', 'rtt = "40 ms"\nreorder = "yes"', "true or false"),
    ('rtt = "40 ms"\n', "", 'the key "rtt" is missing here; accepted: rtt = "40 ms"'),
    ('"cubic"', '"cubik"', 'did you mean "cubic"?'),
    ('"cubic"', '"kernel:cubic"', "thalweg run --live"),
    ('"cubic"', '"cubic:stat=classic"', 'did you mean "start"?'),
    ('"200 kB"', "200000", "200000 has no unit"),
    ('"200 kB"', '"200 kB"\nstreams = "4"', '"4" is a text; accepted: a whole number'),
    ('"200 kB"', '"200 kB"\nstreams = -1', "-1 is not in range"),
    ('"200 kB"', '"200 kB"\nstart = 2', "2 has no unit"),
    ('"200 kB"', '"200 kB"\nroute = "a"', "a list in square brackets"),
    ('"200 kB"', '"200 kB"\nupload = "1 MB"', "a flow has one workload"),
    ('"completion"', '"complete"', 'did you mean "completion"?'),
    ('"completion"', '"throughput"', 'did you mean "rate"?'),
    ('"completion"', '"fct"', 'did you mean "completion"?'),
    ('"completion"', '"p95-delay"', "is missing"),
    ('"completion"', '"rate"', 'has an unknown unit "s"'),
    ('"completion"', '"share"', "needs at least two flows"),
    ('at_most = "5 s"', "at_most = 5", "5 has no unit"),
    ('at_most = "5 s"', 'less_than = "5 s"', 'did you mean "at_most"?'),
    ('at_most = "5 s"', "", "there is no bound"),
    ('at_most = "5 s"', 'at_most = "5 s"\nat_least = "1 s"', "at_most cannot be combined with at_least"),
    ('at_most = "5 s"', 'at_most = "5 s"\nin = 0.95', "0.95 has no unit"),
    ('flow = "main"', 'flow = "mian"', 'did you mean "main"?'),
    ('title = "', "title = ", "missing opening quote"),
    ('title = "', 'rtt = "40 ms"\ntitle = "', 'did you mean "path.rtt"?'),
    ('title = "', 'title = "once"\ntitle = "', '"title" comes twice'),
]


@pytest.mark.parametrize(("old", "new", "says"), IN_THE_FILE)
def test_a_mistake_in_a_file_is_told_in_its_own_words(
    old: str, new: str, says: str, scenario_file: Path, capsys: Capture
) -> None:
    text = scenario_file.read_text(encoding="utf-8")
    assert old in text
    scenario_file.write_text(text.replace(old, new, 1), encoding="utf-8")
    status = main(["check", str(scenario_file)])
    message = capsys.readouterr().err
    assert status == (2 if says else 0), message
    assert says in message
    assert not OF_THE_IMPLEMENTATION.search(message), message
    assert len(message.splitlines()) <= 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "rtt=40 ms"], 'did you mean "path.rtt"?'),
        (["--set", "loss=1 %"], 'did you mean "path.loss"?'),
        (["--set", "download=1 MB"], 'did you mean "flow.NAME.download"?'),
        (["--set", "path.rtt=40"], "40 has no unit"),
        (["--set", "flow.mian.start=1 s"], 'did you mean "main"?'),
        (["--set", "path.rate"], "expected KEY=VALUE"),
        (["--set", "path.rat=1 Mbps"], "rat"),
        (["--set", "path.rate=fast"], "--set path.rate=fast"),
        (["--set", "time_limit=10 ms"], "--set time_limit=10 ms"),
        (["-c", "main=cubik"], '--controller main=cubik: unknown controller "cubik" (did you mean "cubic"?'),
        (["-c", "mian=cubic"], 'did you mean "main"?'),
        (["-c", "main=kernel:cubic"], "thalweg run --live"),
        (["-c", "cubic"], "expected FLOW=NAME"),
        (["--retry", "2"], "require --live"),
        (["--strict-timing"], "require --live"),
        (["-c", "main=c4", "-c", "main=c4"], "--controller main=...: one of them is given twice"),
        (["-c", "main=c4", "-c", "main=cubic", "--plot", "x.html"], "cannot be combined with several controllers"),
    ],
)
def test_a_mistake_in_an_option_is_told_in_its_own_words(
    arguments: list[str], says: str, scenario_file: Path, capsys: Capture
) -> None:
    assert main(["run", str(scenario_file), *arguments]) == 2
    out, message = capsys.readouterr()
    assert (out, message[:7], message.count("\n")) == ("", "error: ", 1)
    assert says in message
    assert not OF_THE_IMPLEMENTATION.search(message), message


def test_a_loss_may_be_a_probability_alone(scenario_file: Path, capsys: Capture) -> None:
    def said(loss: str) -> str:
        arguments = ["run", str(scenario_file), "-n", "3", "--set", f"path.loss={loss}", "--format", "json"]
        assert main(arguments) == 0
        out = capsys.readouterr().out
        return re.sub(r'"(wall_s|core_s|started|command)": .+', "", out)

    model = '{ model = "random", rate = "1 %" }'
    assert said("1 %") == said(model)
    assert said("1 %") != said("2 %")


def test_a_value_that_needs_quotes_is_told_so(capsys: Capture) -> None:
    assert main(["run", "c4/simple-20mbps", "--set", "path.rtt=5", "ms"]) == 2
    assert capsys.readouterr().err == (
        "error: unexpected argument 'ms'; accepted: a value with spaces in quotes, as in path.rate=\"10 Mbps\"\n"
    )


BOUND = "--bound '5': expected a time such as 20ms or 75s; units are ns, us, µs, ms, s, min, h"


@pytest.mark.parametrize("command", ["run", "show", "check", "plot"])
@pytest.mark.parametrize(
    ("name", "is_"),
    [
        ("prod.qlog", "a qlog"),
        ("prod.SQLOG", "a qlog"),
        ("prod.pcap", "a capture"),
        ("none.pcapng", "a capture"),
    ],
)
def test_a_recording_in_place_of_a_scenario_is_told_where_it_belongs(
    command: str, name: str, is_: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / name
    if name.startswith("prod"):
        file.write_bytes(b'{"qlog_version": "0.3"}')
    more = ["-o", str(tmp_path / "x.html")] if command == "plot" else []
    assert main([command, str(file), *more]) == 2
    expected = f"error: {file} is {is_}, not a scenario; to see what it says: thalweg explain {file}\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "SCENARIO is missing; see thalweg run --help"),
        (["probe", "run"], "HOST is missing; see thalweg probe run --help"),
        (["compare", "no", "such"], "no: there is no such folder"),
        (
            ["run", "c4/bad-wifi", "-c", "main=cubic as a", "-c", "main=c4 as a"],
            "--controller: two controllers are named 'a'; give each a name of its own",
        ),
        (
            ["study", "slow-start", "--rate", "0bps"],
            "--rate 0bps: it never transmits a packet; accepted: a rate above 0",
        ),
        (["run", "a", "--foo"], "unknown option --foo; did you mean --format or --out?"),
        (["rnu"], "unknown command 'rnu'; did you mean run?"),
        (["probe", "rnu"], "unknown command 'rnu'; did you mean run?"),
        (["run", "a", "--controller"], "--controller: a value is missing"),
        (["run", "a", "--trials", "0"], "--trials '0': accepted: a whole number from 1 to 1048576"),
        (["run", "a", "--trials", "x"], "--trials 'x': accepted: a whole number from 1 to 1048576"),
        (["run", "a", "-n", "1.5"], "--trials '1.5': accepted: a whole number from 1 to 1048576"),
        (["run", "a", "--seed", "x"], "--seed 'x': accepted: a whole number, 0 or more"),
        (["run", "a", "--seed", "-3"], "--seed '-3': accepted: a whole number, 0 or more"),
        (["suite", "c4", "--jobs", "two"], "--jobs 'two': accepted: a whole number, 0 or more"),
        (["probe", "run", "a", "--port", "70000"], "--port '70000': accepted: a whole number from 0 to 65535"),
        (["study", "harm", "--count", "x"], "--count 'x': accepted: a whole number from 1 to 1000000"),
        (["compare", "a", "b", "--margin", "x"], "--margin 'x': accepted: a number from 0 to 100"),
        (["run", "c4/simple-20mbps", "--live", "--bound", "5"], BOUND),
        (["suite", "a", "--format", "xml"], "--format 'xml': accepted: table, json, markdown, junit, github"),
    ],
)
def test_what_is_wrong_with_a_command_line_is_said_in_our_words(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"error: {said}\n"


def test_a_score_names_the_controller_as_the_user_wrote_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "c4x"]) == 2
    assert capsys.readouterr().err.startswith('error: c4x: unknown controller "c4x" (did you mean "c4"?)')


@pytest.mark.parametrize("command", ["sweep", "hunt"])
def test_a_scenario_is_not_a_plan(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.toml"
    file.write_text('title = "short"\n[[flow]]\nname = "main"\ncontroller = "c4"\n', encoding="utf-8")
    assert main([command, str(file), "--out", str(tmp_path / "out")]) == 2
    expected = f'error: {file} is a scenario, not a plan; a plan names it: scenario = "{file}"\n'
    assert capsys.readouterr().err == expected
