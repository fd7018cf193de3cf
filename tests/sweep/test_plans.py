"""Plans of sweeps: what they mean, and what is wrong with one, said with its file, line and key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from short_download import SCENARIO
from thalweg import Scenario, Sweep
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.catalogue import find_scenario
from thalweg.experiments.sweep.point import Point

Capture = pytest.CaptureFixture[str]

PLAN = """\
scenario = "short.toml"
trials = 3
design = "grid"
tied = [["path.rate", "path.buffer"]]

[set]
"flow.main.download" = "100 kB"

[axes]
# The slower paths have the smaller buffers.
"path.rate" = ["5 Mbps", "20 Mbps"]
"path.buffer" = ["10 packets", "40 packets"]
"path.rtt" = { from = "10 ms", to = "320 ms", steps = 6, scale = "log" }
"controller.main" = ["cubic", "c4"]

[[exclude]]
"path.rate" = "5000 kbps"
"path.rtt" = { from = "100 ms", to = "1 s" }
"""


@pytest.fixture(name="plan")
def plan_file(tmp_path: Path) -> Path:
    (tmp_path / "short.toml").write_text(SCENARIO, encoding="utf-8")
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def texts(sweep: Sweep) -> list[tuple[str, ...]]:
    return [tuple(value.text for value in values) for block in sweep.plan.space.points(7) for _, values in block]


def test_a_grid_has_all_points_that_are_not_excluded_and_tied_axes_go_together(plan: Path) -> None:
    sweep = Sweep.load(plan)
    points = texts(sweep)
    rtts = ["10 ms", "20 ms", "40 ms", "80 ms", "160 ms", "320 ms"]
    assert points == [
        (rate, buffer, rtt, controller)
        for rate, buffer in (("5 Mbps", "10 packets"), ("20 Mbps", "40 packets"))
        for rtt in rtts
        for controller in ("cubic", "c4")
        if rate != "5 Mbps" or rtt not in ("160 ms", "320 ms")
    ]
    assert sweep.points == len(points) == 20
    columns = [axis.column for axis in sweep.plan.axes]
    assert columns == ["path.rate_bps", "path.buffer_packets", "path.rtt_s", "controller.main"]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("trials = 3", "trials = 0", 2, "trials = 0: accepted: a whole number, 1 to 1048576"),
        ("trials = 3", "trails = 3", 2, "unknown key; did you mean trials?"),
        ('"grid"', '"gird"', 3, "did you mean grid?"),
        ('"grid"', '{ kind = "sobol" }', 3, "points is missing"),
        ('[["path.rate", "path.buffer"]]', '[["path.rate", "path.rtt"]]', 4, "path.rate 2, path.rtt 6"),
        ('"100 kB"', '"100 Mbps"', 7, 'has an unknown unit "Mbps"'),
        ('"flow.main.download"', '"path.rtt"', 7, "it cannot be combined with an axis of the same key"),
        (
            '"path.rtt" = { from = "10 ',
            '"path.rt" = { from = "10 ',
            18,
            "there is no such axis; did you mean path.rt",
        ),
        ('"controller.main"', '"flow.main.stream"', 14, '(did you mean "streams"?)'),
        (
            '["5 Mbps", "20 Mbps"]',
            '["5 Mbps", "20 ms"]',
            11,
            'path.rate" = "20 ms": `rate = "20 ms"`: "20 ms" has an ',
        ),
        ('["5 Mbps", "20 Mbps"]', "[]", 11, "the axis is empty; accepted: a list such as"),
        ('["5 Mbps", "20 Mbps"]', '["5 Mbps", "5 Mbps"]', 11, "it is given twice"),
        ('scale = "log"', "scale = [true]", 13, "steps = 6, scale = [true] }: scale = [true]: accepted"),
        ('["5 Mbps", "20 Mbps"]', '"5 Mbps"', 11, "accepted: a list such as"),
        ('to = "320 ms", steps', 'to = "320 kB", steps', 13, "different units"),
        ('"10 ms", to', '"0 ms", to', 13, "accepted: from and to above 0"),
        ("steps = 6", "steps = 1", 13, "steps = 1: accepted: a whole number, 2 to 10000"),
        ("steps = 6, ", "", 13, "steps is missing"),
        ("steps = 6", "step = 6", 13, "did you mean steps?"),
        ('"controller.main"', '"controller.mian"', 14, 'there is no flow "mian" (did you mean "main"?)'),
        ('"controller.main"', '"flow.main.controller"', 14, 'accepted: "controller.main"'),
        ('["cubic", "c4"]', '["cubic", "c44"]', 14, 'unknown controller "c44" (did you mean "c4"?)'),
        ('["cubic", "c4"]', '["cubic", "./none.py"]', 14, "none.py"),
        ('"5000 kbps"', '"6 Mbps"', 17, "no value of the axis is meant; it has 5 Mbps, 20 Mbps"),
        (
            '"path.rtt" = { from = "100',
            '"path.rt" = { from = "100',
            18,
            "there is no such axis; did you mean path.rtt",
        ),
        ('"short.toml"', '"shirt.toml"', 1, "no such file"),
        ('scenario = "short.toml"', "", None, "the scenario is missing"),
        ("[axes]", "[axes", 9, "unclosed table"),
        ('["5 Mbps", "20 Mbps"]', "[inf, 2]", 11, "accepted: a finite number"),
        ('["5 Mbps", "20 Mbps"]', f"[{5000 * '1'}, 2]", 11, "is too large; accepted: 64 bits"),
        ('["5 Mbps", "20 Mbps"]', "{ from = 1, to = inf, steps = 2 }", 11, "accepted: a number with"),
        ('["5 Mbps", "20 Mbps"]', "{ from = -1e308, to = 1e308, steps = 3 }", 11, "too far apart"),
        ('["5 Mbps", "20 Mbps"]', "[[1979-05-27], 2]", 11, "accepted: texts, numbers, lists, tables"),
        ('"100 kB"', "nan", 7, "accepted: a finite number"),
        ('"5000 kbps"', "inf", 17, "accepted: a finite number"),
        ("trials = 3", f"trials = 1{400 * '0'}", 2, "is too large; accepted: 64 bits"),
        ('"short.toml"', "{ day = 1979-05-27 }", 1, "accepted: texts, numbers, lists, tables"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_at_its_line(
    old: str, new: str, line: int | None, says: str, plan: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert PLAN.count(old) == 1
    plan.write_text(PLAN.replace(old, new), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["sweep", str(plan), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    where = str(plan) if line is None else f"{plan}:{line}: "
    assert message.startswith(f"error: {where}")
    assert says in message
    assert message.count("\n") == 1
    assert len(message) < 600
    assert not out.exists()


@pytest.mark.parametrize("kind", ["random", "latin-hypercube", "sobol"])
def test_a_design_of_points_stays_within_its_axes_and_draws_the_same_again(kind: str) -> None:
    axes = {
        "path.rate": {"from": "1 Mbps", "to": "1 Gbps", "scale": "log"},
        "path.rtt": {"from": "10 ms", "to": "110 ms"},
        "controller.main": ["cubic", "c4", "reno", "bbr"],
    }
    sweep, again = (
        Sweep("c4/simple-20mbps", axes, design={"kind": kind, "points": 256, "seed": 3}) for _ in range(2)
    )
    points = texts(sweep)
    assert len(points) == sweep.points == 256
    assert points == texts(again)
    rates = [float(rate.removesuffix(" Mbps")) for rate, _, _ in points]
    rtts = [float(rtt.removesuffix(" ms")) for _, rtt, _ in points]
    assert min(rates) >= 1
    assert max(rates) <= 1000
    assert min(rtts) >= 10
    assert max(rtts) <= 110
    # Even over the logarithm of the rate, over the RTT and over the controllers: a quarter of all in each quarter.
    # Random draws have a standard deviation of 7 there, the others none to speak of.
    most = 28 if kind == "random" else 2
    quarters = np.histogram(np.log10(rates), bins=4, range=(0, 3))[0], np.histogram(rtts, 4, (10, 110))[0]
    for counts in (*quarters, np.unique([controller for *_, controller in points], return_counts=True)[1]):
        assert np.abs(counts - 64).max() <= most


@pytest.mark.parametrize("kind", ["random", "sobol"])
def test_more_points_are_added_to_those_that_there_are(kind: str) -> None:
    axes = {"path.rate": {"from": "1 Mbps", "to": "9 Mbps"}, "path.rtt": {"from": "1 ms", "to": "9 ms"}}
    few, many = (Sweep("c4/simple-20mbps", axes, design={"kind": kind, "points": n}) for n in (10, 25))
    assert texts(many)[:10] == texts(few)


def test_exclusions_leave_the_same_points_out_whichever_way_they_are_found() -> None:
    """A grid looks at positions on axes, a design of points at values: both by the definition, point by point."""
    random = np.random.default_rng(5)
    axes: dict[str, Any] = {
        "path.rtt": [f"{n} ms" for n in range(1, 8)],
        "path.rate": [f"{n} Mbps" for n in range(1, 6)],
    }
    for _ in range(50):
        low, high = sorted(random.choice(range(1, 8), 2, replace=False).tolist())
        rates = sorted(set(random.integers(1, 6, 2).tolist()))
        exclude = [
            {"path.rtt": {"from": f"{low} ms", "to": f"{high} ms"}, "path.rate": [f"{r} Mbps" for r in rates]}
        ]
        sweep = Sweep("c4/simple-20mbps", axes, exclude=exclude)
        wanted = [
            (f"{rtt} ms", f"{rate} Mbps")
            for rtt in range(1, 8)
            for rate in range(1, 6)
            if not (low <= rtt <= high and rate in rates)
        ]
        assert texts(sweep) == wanted
        assert sweep.points == len(wanted)
        drawn = Sweep("c4/simple-20mbps", axes, exclude=exclude, design={"kind": "random", "points": 300})
        assert set(texts(drawn)) == set(wanted)


def test_ranges_have_round_texts_and_whole_numbers_stay_whole() -> None:
    sweep = Sweep(
        "c4/simple-20mbps",
        {
            "path.rate": {"from": "1 Mbps", "to": "1 Gbps", "steps": 4, "scale": "log"},
            "path.buffer": {"from": "10 packets", "to": "1000 packets", "steps": 5, "scale": "log"},
            "flow.main.streams": {"from": 1, "to": 8, "steps": 3},
        },
    )
    rate, buffer, streams = sweep.plan.axes
    assert [value.text for value in rate.values] == ["1 Mbps", "10 Mbps", "100 Mbps", "1000 Mbps"]
    assert [value.number for value in rate.values] == [1e6, 1e7, 1e8, 1e9]
    assert [value.text for value in buffer.values] == [
        "10 packets",
        "32 packets",
        "100 packets",
        "316 packets",
        "1000 packets",
    ]
    assert [value.text for value in streams.values] == ["1", "4", "8"]


def test_a_plan_in_python_is_refused_as_one_in_a_file() -> None:
    with pytest.raises(RequestError, match=r'the plan: axes\."path\.rate" = \[\]: the axis is empty'):
        Sweep("c4/simple-20mbps", {"path.rate": []})
    with pytest.raises(RequestError, match="a finite number"):
        Sweep("c4/simple-20mbps", {"path.rate": [float("nan")]})


def test_a_mistake_in_the_scenario_is_not_said_of_an_axis(plan: Path, capsys: Capture) -> None:
    plan.with_name("short.toml").write_text(f"mistake = 1\n{SCENARIO}", encoding="utf-8")
    assert main(["sweep", str(plan), "--out", str(plan.with_name("out"))]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {plan}: {plan.with_name('short.toml')}:1: ")
    assert 'unknown key "mistake"' in message
    assert "axes" not in message


def test_a_key_of_the_scenario_in_a_plan_that_is_no_bare_key_is_said_as_it_is(
    tmp_path: Path, capsys: Capture
) -> None:
    plan = tmp_path / "plan.toml"
    for key in ("a key", "path.rate", "Ä"):
        plan.write_text(f'[axes]\n"path.rtt" = ["20 ms"]\n[scenario]\n"{key}" = 1\n', encoding="utf-8")
        assert main(["sweep", str(plan), "--out", str(tmp_path / "out")]) == 2
        assert f'unknown key "{key}"' in capsys.readouterr().err


WITHIN = """\
trials = 1
[axes]
"path.rate" = ["5 Mbps",
  "20 Mbps"]

[scenario]  # the whole of it
title = "Within"
[scenario.path]
rate = "10 Mbps"
rtt = "40 ms"
jitter = { model = "wifi", mean = "5 ms" }

[set]
"path.buffer" = "1 bdp"

[[scenario.flow]]
name = "main"
controller = "cubic"
download = "1 MB"
"""


@pytest.mark.parametrize("line", [line for line in WITHIN.splitlines() if " = " in line][2:])
def test_a_mistake_in_a_scenario_within_the_plan_is_refused_at_its_line(
    line: str, tmp_path: Path, capsys: Capture
) -> None:
    plan, key = tmp_path / "plan.toml", line.split(" = ", maxsplit=1)[0]
    plan.write_text(WITHIN.replace(line, f"{key} = []"), encoding="utf-8")
    assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {plan}:{WITHIN.splitlines().index(line) + 1}: ")


def test_a_key_that_a_scenario_within_the_plan_lacks_is_said_of_its_table_or_of_the_scenario(
    tmp_path: Path, capsys: Capture
) -> None:
    plan = tmp_path / "plan.toml"
    for lacking, says in (
        ('name = "main"', '16: `[[flow]]`: the key "name"'),
        ("title", '6: scenario: the key "title"'),
    ):
        kept = [line if not line.startswith(lacking) else "" for line in WITHIN.splitlines()]
        plan.write_text("\n".join(kept), encoding="utf-8")
        assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]) == 2
        assert capsys.readouterr().err.startswith(f"error: {plan}:{says} is missing")


def test_a_mistake_in_a_scenario_within_a_plan_that_is_in_parts_is_said_of_the_scenario(
    tmp_path: Path, capsys: Capture
) -> None:
    parts = (("[scenario]  # the whole of it", '["scenario"]'), ('title = "Within"', 'title = """\n[1]"""'))
    plan = tmp_path / "plan.toml"
    for line, other in parts:
        plan.write_text(WITHIN.replace(line, other).replace('"40 ms"', "[]"), encoding="utf-8")
        assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]) == 2
        assert capsys.readouterr().err.startswith(
            f"error: {plan}:6: scenario: `rtt    = []`: this is a list; accepted: "
        )


def test_a_bad_value_of_an_axis_is_named_where_the_scenario_has_none_for_its_key(
    tmp_path: Path, capsys: Capture
) -> None:
    plan = tmp_path / "plan.toml"
    text = WITHIN.replace('rate = "10 Mbps"\n', "").replace('"5 Mbps"', '"5 Mbx"')
    plan.write_text(text, encoding="utf-8")
    assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]) == 2
    assert capsys.readouterr().err.startswith(f'error: {plan}:3: axes."path.rate" = "5 Mbx": ')


@pytest.mark.parametrize("mode", ["--dry-run", "-q"])
def test_a_plan_whose_exclusions_leave_no_point_is_refused(mode: str, tmp_path: Path, capsys: Capture) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(WITHIN + '[[exclude]]\n"path.rate" = { from = "1 Mbps", to = "1 Gbps" }\n', encoding="utf-8")
    assert main(["sweep", str(plan), "--out", str(out), mode]) == 2
    assert capsys.readouterr().err == f"error: {plan}: exclude leaves no point; accepted: at least one\n"
    assert not out.exists()


def test_a_mistake_has_its_line_with_either_end_of_lines(tmp_path: Path, capsys: Capture) -> None:
    plan = tmp_path / "plan.toml"
    text = WITHIN.replace('"5 Mbps"', '"5 Mbx"')
    for ends in ("\n", "\r\n"):
        plan.write_bytes(text.replace("\n", ends).encode())
        assert main(["sweep", str(plan), "--out", str(tmp_path / "out"), "-q"]) == 2
        assert capsys.readouterr().err.startswith(f'error: {plan}:3: axes."path.rate" = "5 Mbx": ')


@pytest.mark.parametrize("spoiled", ["", "{} = []", '{} = "x y"', "x{} = 1"])
@pytest.mark.parametrize(
    "reference", ["c4/bad-wifi", "c4/low-and-up", "c4/c4-background-first", "search/beside-cubic"]
)
def test_a_mistake_within_a_plan_is_the_one_that_the_scenario_has_in_a_file_of_its_own(
    reference: str, spoiled: str, tmp_path: Path
) -> None:
    alone, plan = tmp_path / "alone.toml", tmp_path / "plan.toml"
    before = ["[axes]", '"noise.start" = ["0 s"]', "[scenario]"]
    lines = find_scenario(reference).read().decode().split("\n")
    for number, line in enumerate(lines):
        key = re.match(r'(\w+) *= (?!""")', line)  # without the first line of a long text there is no TOML
        if key is None:
            continue
        text = "\n".join([*lines[:number], spoiled.format(key[1]), *lines[number + 1 :]])
        alone.write_text(text, encoding="utf-8")
        within = re.sub(r"(?m)^(\[+)", r"\1scenario.", text)
        plan.write_text("\n".join([*before, within]), encoding="utf-8")
        refused, of_plan = _refused(lambda: Scenario.load(alone)), _refused(lambda: _first_scenario(plan))
        if refused is None or 'key "title"' in refused:  # what the whole lacks is said of `[scenario]`
            assert (refused is None) == (of_plan is None)
        else:
            at, _, problem = refused.removeprefix(f"{alone}:").partition(":")
            assert of_plan == f"{plan}:{int(at) + len(before)}:{problem}"


def _first_scenario(plan: Path) -> Scenario:
    sweep = Sweep.load(plan)
    return Point(sweep.plan, 0, sweep.plan.space.at(0)).scenario


def _refused(made: Callable[[], object]) -> str | None:
    try:
        made()
    except RequestError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("axis", "losses"),
    [
        ('["0.01", "2 %", "0.5"]', [0.01, 0.02, 0.5]),
        ("[0.01, 0.02]", [0.01, 0.02]),
        ('{ from = "0.01", to = "0.03", steps = 3 }', [0.01, 0.02, 0.03]),
        ('{ from = "1 %", to = "3 %", steps = 3 }', [0.01, 0.02, 0.03]),
    ],
)
def test_a_share_has_the_forms_of_a_scenario(axis: str, losses: list[float], plan: Path) -> None:
    head = PLAN.split("[[exclude]]", maxsplit=1)[0]
    plan.write_text(re.sub('"path.rtt" = .*', f'"path.loss" = {axis}', head), encoding="utf-8")
    sweep = Sweep.load(plan).plan
    blocks = list(sweep.space.points(100))
    points = [Point(sweep, number, values) for block in blocks for number, values in block]
    position = [axis.key for axis in sweep.axes].index("path.loss")
    assert {point.values[position].number for point in points} == set(losses)
    for point in points[:: len(points) // len(losses)]:
        assert "loss" in point.scenario.toml
