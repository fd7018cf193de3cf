"""Bandwidth models of netem-trace become delivery traces that a scenario replays, with the mean of the model."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.probe.importers.delivery import Step, delivery_lines
from thalweg.probe.importers.netem_trace import bandwidth_steps, delivery_trace

Capture = pytest.CaptureFixture[str]
MS = 1_000_000


def static(rate: object, duration: object) -> dict[str, Any]:
    """A model of one rate."""
    return {"StaticBwConfig": {"bw": rate, "duration": duration}}


def pattern(*parts: dict[str, Any], count: int = 0) -> dict[str, Any]:
    """Models in turn."""
    return {"RepeatedBwPatternConfig": {"pattern": list(parts), "count": count}}


SAWTOOTH = {
    "bottom": "12Mbps",
    "top": "16Mbps",
    "step": "100ms",
    "interval": "500ms",
    "duty_ratio": 0.8,
}
PLAIN = pattern(
    static({"gbps": 0, "bps": 12_000_000}, {"secs": 0, "nanos": 2 * MS}),
    static({"gbps": 0, "bps": 24_000_000}, {"secs": 0, "nanos": 2 * MS}),
)


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        # 12 Mbps are 1500 bytes in a millisecond: the figures of netem-trace's own test of its Mahimahi traces.
        (PLAIN, [1, 2, 3, 3, 4, 4]),
        (pattern(static("12Mbps", "2ms"), static("24 mbps", "1ms 1000us")), [1, 2, 3, 3, 4, 4]),
        (pattern({"TraceBwConfig": [[1, [12, 12]], [1.0, [24.0, 24]]]}), [1, 2, 3, 3, 4, 4]),
        ({"TraceBwConfig": [["2ms", ["12Mbps", "24Mbps"]]]}, [1, 2, 3, 3, 4, 4]),
        # As netem-trace 0.5 writes it, with and without its feature `human`.
        ({"TraceBwConfig": {"pattern": [["2ms", ["12Mbps", "24Mbps"]]]}}, [1, 2, 3, 3, 4, 4]),
        (
            {"TraceBwConfig": {"pattern": [[{"secs": 0, "nanos": 2 * MS}, [{"gbps": 0, "bps": 12 * MS}]]]}},
            [1, 2],
        ),
        # Its defaults: 12 Mbps for a second.
        ({"StaticBwConfig": {}}, list(range(1, 1001))),
        ({"StaticBwConfig": {"bw": "3Mbps", "duration": None}}, list(range(4, 1001, 4))),
        ({"NormalizedBwConfig": {}}, list(range(1, 1001))),
        ({"NormalizedBwConfig": {"mean": "6 Mbit/s", "duration": "4msec"}}, [2, 4]),
        (pattern(pattern(static("12Mbps", "1ms"), count=2), static("24Mbps", "2ms")), [1, 2, 3, 3, 4, 4]),
        # 8 Mbps: 1500 bytes in 1.5 ms, so at 1.5, 3, 4.5 and 6 ms, each by the end of its millisecond.
        (static("8Mbps", "6ms"), [2, 3, 5, 6]),
        # A pause of 3 ms: the only packet stands for its end.
        (pattern(static("12Mbps", "1ms"), static("0bps", "3ms")), [4]),
        # Of two, the first of the next period is nearer to the end than the last before it.
        (pattern(static("12Mbps", "2ms"), static("0bps", "3ms")), [2, 5]),
        # A rate below a packet a step: half a packet in each of the first two, a packet at their end.
        (pattern(static("6Mbps", "1ms"), static("6Mbps", "1ms")), [2]),
        # What is left of a packet is carried over: 1.25 packets in 15 ms, 5 in 60.
        (pattern({"TraceBwConfig": [["15ms", ["1Mbps"]]]}), [12, 24, 36, 48, 60]),
        (
            # 3000 + 2000 bits in 3 ms: 5 packets in 36.
            pattern({"TraceBwConfig": [["1ms", ["3Mbps"]], ["2ms", ["1Mbps"]]]}),
            [7, 14, 22, 28, 36],
        ),
        # Less than a packet in a period: 1.5 ms at 100 kbps are 150 bits, a packet in 80 periods.
        (static("100kbps", "1500us"), [120]),
        # Periods of 1.5 ms end with a millisecond every other time: 1.5 packets each, 3 in 3 ms.
        (static("12Mbps", "1500us"), [1, 2, 3]),
    ],
)
def test_steps_of_bandwidth_are_a_delivery_trace(model: dict[str, Any], lines: list[int]) -> None:
    assert [int(line) for line in delivery_trace(Path("m.json"), model).split()] == lines


def test_no_moment_of_a_delivery_trace_is_a_packet_off_the_model() -> None:
    random = np.random.default_rng(7)
    rates = random.integers(0, 100_000_000, 300).tolist()
    nanos = random.integers(1, 20 * MS, 300).tolist()
    parts = [static({"bps": rate}, {"nanos": span}) for rate, span in zip(rates, nanos, strict=True)]
    lines = np.array(delivery_trace(Path("m.json"), pattern(*parts)).split(), np.int64)
    ends = np.cumsum(nanos)
    bits = np.concatenate([[0], np.cumsum([r * n / 1e9 for r, n in zip(rates, nanos, strict=True)])])
    for at in range(1, int(ends[-1] // MS)):
        offered = np.interp(at * MS, np.concatenate([[0], ends]), bits)
        traced = np.searchsorted(lines, at, side="right")
        assert -1e-6 <= offered / 12_000 - traced < 1


@pytest.mark.parametrize("seed", range(40))
def test_the_mean_of_a_trace_is_that_of_its_steps_whatever_they_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 6))
    fine = [1, 1_000, 500_000, MS][seed % 4]
    spans = [fine * int(random.integers(1, 1 + 20 * MS // fine)) for _ in range(count)]
    spans[0] += max(MS - sum(spans), 0)
    rates = [int(10 ** random.uniform(2, 9)) * int(random.integers(2) or number == 0) for number in range(count)]
    steps = [Step(rate, span) for rate, span in zip(rates, spans, strict=True)]
    lines = delivery_lines(steps)
    assert lines
    assert lines == sorted(lines)
    work, span = sum(step.bps * step.nanoseconds for step in steps), sum(spans)
    mean, realised = work / span, len(lines) * 12_000 / lines[-1] * 1000
    assert abs(realised / mean - 1) <= 1.01e-5
    # Every packet is offered in its millisecond, but for those around the end of a period and a thousandth of it.
    ends, works = list(accumulate(spans)), list(accumulate(s.bps * s.nanoseconds for s in steps))
    for packet, line in list(enumerate(lines, start=1))[1:-1][:: max(len(lines) // 50, 1)]:
        periods, rest = divmod(line * MS, span)
        offered = np.interp(rest, [0, *ends], [0.0, *map(float, works)]) + periods * work
        assert -1.1 <= offered / 12e12 - packet <= 1.1 + max(rates) * 1e-3 / 12_000 + len(lines) * 1e-3


def test_a_trace_that_is_long_enough_is_not_written_twice() -> None:
    # A minute of random rates: whole packets and milliseconds at once come after ages only.
    random = np.random.default_rng(3)
    steps = [Step(int(rate), 10 * MS) for rate in random.integers(1_000_000, 30_000_000, 6000)]
    lines = delivery_lines(steps)
    assert lines is not None
    assert lines[-1] == 60_000


@pytest.mark.parametrize(
    ("model", "drawn"),
    [
        # The examples of the documentation of netem-trace 0.5.
        (
            {"NormalizedBwConfig": {"mean": "12Mbps", "std_dev": "1Mbps", "step": "100ms", "seed": 42}},
            [12_069_427, 12_132_938],
        ),
        (
            {
                "NormalizedBwConfig": {
                    "std_dev": "1Mbps",
                    "step": "100ms",
                    "upper_bound": "12100kbps",
                    "lower_bound": "11900kbps",
                }
            },
            [12_069_427, 12_100_000],
        ),
        (
            {"SawtoothBwConfig": SAWTOOTH},
            [12_000_000, 13_000_000, 14_000_000, 15_000_000, 16_000_000, 12_000_000],
        ),
        (
            {
                "SawtoothBwConfig": SAWTOOTH
                | {"std_dev": "5Mbps", "upper_noise_bound": "1Mbps", "lower_noise_bound": "500kbps"}
            },
            [12_347_139, 13_664_690, 15_000_000, 14_500_000],
        ),
    ],
)
def test_what_a_model_draws_is_what_netem_trace_draws(model: dict[str, Any], drawn: list[int]) -> None:
    steps = list(bandwidth_steps("m.json", model))
    assert [step.bps for step in steps[: len(drawn)]] == drawn
    assert {step.nanoseconds for step in steps} == {100 * MS}
    assert len(steps) == 10


def test_draws_of_a_pattern_are_the_same_each_time_as_those_of_netem_trace() -> None:
    noisy = {"NormalizedBwConfig": {"std_dev": "1Mbps", "duration": "3ms"}}
    steps = [step.bps for step in bandwidth_steps("m.json", pattern(pattern(noisy, count=2)))]
    assert steps[:3] == steps[3:]
    assert len(set(steps)) == 3


def test_a_bandwidth_model_is_exported_and_runs_at_its_mean_rate(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(pattern(static("8Mbps", "300ms"), static("2Mbps", "700ms"))), encoding="utf-8")
    assert main(["probe", "export", str(file), "-o", str(tmp_path / "model.down")]) == 0
    assert capsys.readouterr().out == 'trace = "model.down"\n'
    # 8 Mbps for 300 ms and 2 Mbps for 700 ms are 3.8 Mbps; the header of QUIC and UDP takes a few percent of it.
    (tmp_path / "s.toml").write_text(
        'title = "s"\n[path]\ntrace = "model.down"\nrtt = "40 ms"\nbuffer = "1 s"\n'
        '[[flow]]\nname = "main"\ncontroller = "cubic"\ndownload = "5 MB"\n',
        encoding="utf-8",
    )
    trial = Scenario.load(tmp_path / "s.toml").run(seed=1)
    seconds = trial.flows["completion_s"][0]
    assert 5e6 * 8 / 3.8e6 < seconds < 5e6 * 8 / 3.8e6 * 1.08


def test_a_bandwidth_model_has_no_direction(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(PLAIN), encoding="utf-8")
    assert main(["probe", "export", str(file), "-o", str(tmp_path / "x"), "--direction", "up"]) == 2
    assert "--direction up" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            {"StaticDelayConfig": {}},
            "StaticDelayConfig is not a bandwidth model, or is too deep; accepted: Static",
        ),
        (pattern({"RepeatedDelayConfig": {}}), "[0]: RepeatedDelayConfig is not a bandwidth model"),
        (pattern(7), "[0]: this is not a bandwidth model"),  # type: ignore[arg-type]
        ({"StaticBwConfig": 1}, "StaticBwConfig: expected an object with any of bw, duration"),
        ({"StaticBwConfig": {"rate": "1Mbps"}}, "StaticBwConfig.rate: unknown key; accepted: bw, duration"),
        (static("12Mbps", True), "duration = True: expected"),
        ({"NormalizedBwConfig": {"seed": -1}}, "seed = -1: expected 0 to"),
        ({"NormalizedBwConfig": {"step": "0s"}}, "step = 0: expected a time above 0"),
        ({"NormalizedBwConfig": {"duration": "1h", "step": "1ns"}}, "NormalizedBwConfig: more than 1000000 steps"),
        ({"SawtoothBwConfig": {"bottom": "13Mbps"}}, "bottom 13000000 bps is above top 12000000 bps"),
        ({"SawtoothBwConfig": {"interval": "0s"}}, "step 1000000 ns is above interval 0 ns"),
        ({"SawtoothBwConfig": {"step": "0s", "interval": "0s"}}, "step = 0: expected a time above 0"),
        ({"SawtoothBwConfig": {"duty_ratio": 1.5}}, "duty_ratio = 1.5: expected a number from 0 to 1"),
        ({"TraceBwConfig": {"pattern": 3}}, "TraceBwConfig.pattern: expected a list"),
        (static("12 bananas", "1s"), "bw = 12 bananas: expected"),
        (static("-1Mbps", "1s"), "bw = -1Mbps: expected"),
        (static({"bps": -1}, "1s"), "bw = {'bps': -1}: expected"),
        (static({"bps": float("inf")}, "1s"), "bw = {'bps': inf}: expected"),
        ({"TraceBwConfig": [[1, 2, 3]]}, "[0]: expected [duration, [rate, rate, ...]]"),
        ({"TraceBwConfig": [[float("nan"), [1]]]}, "[0]: duration = nan: expected"),
        (pattern(PLAIN), "count = 0, forever, inside another pattern"),
        (pattern(static("1Mbps", "1s"), count=-1), "count = -1: expected"),
        (pattern(), "the model never offers a byte"),
        (static("0bps", "1s"), "the model never offers a byte"),
        (static("12Mbps", "0s"), "the model never offers a byte"),
        (static("1Tbps", "1h"), "the model is too long for a delivery trace"),
        (
            pattern(pattern(pattern(static("1bps", "1ns"), count=10**6), count=10**6), count=1),
            "more than 1000000 steps",
        ),
    ],
)
def test_a_model_without_a_delivery_trace_is_refused(
    model: dict[str, Any], says: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps(model), encoding="utf-8")
    assert main(["probe", "export", str(file), "-o", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {file}")
    assert says in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{"StaticBwConfig": {}}',
            "this is a model of netem-trace, StaticBwConfig, not a measurement; accepted: ",
        ),
        ("{}", "there is no list round_trips; accepted: "),
        ("1,2,3\n", "these are not the columns of a probe"),
        ("[1, 2]", "these are not the columns of a probe"),
        ("# empty\n", "nothing was measured; accepted: "),
    ],
)
def test_a_file_that_is_not_a_measurement_is_refused_with_all_forms(
    text: str, says: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    assert main(["probe", "analyze", str(file)]) == 2
    said = capsys.readouterr().err
    assert says in said
    for form in ("`thalweg probe run`", "octoping", "`irtt client -o`", "`thalweg probe export`", "netem-trace"):
        assert form in said
