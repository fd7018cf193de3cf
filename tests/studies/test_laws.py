"""The study `laws`: its arithmetic on numbers made by hand, planted faults, the quick preset from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from thalweg.cli import main
from thalweg.cli.fitting import plain_table
from thalweg.engine.scenario import Scenario
from thalweg.engine.trace import PACKETS, Trace
from thalweg.experiments.studies.laws import bbr_cycle, persistent, queues, timeout, utilisation, window
from thalweg.experiments.studies.laws.checks import checks, findings
from thalweg.experiments.studies.laws.experiment import Experiment, Quantity
from thalweg.experiments.studies.laws.parameters import GRID, PRESETS
from thalweg.experiments.studies.laws.study import STUDY
from thalweg.experiments.studies.laws.window_law import average_window, cubic_table, reno_table
from thalweg.experiments.studies.runner.result import StudyResult
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED
from thalweg.trials.machine import ThisMachine

Columns = dict[str, Any]


def quantity(values: float | list[float], stack: str = "model", **other: object) -> Quantity:
    """A number that is to lie between 0.9 and 1.1, in six trials that scatter by half a percent."""
    trials = np.array(values) if isinstance(values, list) else values * np.linspace(0.995, 1.005, 6)
    base = Quantity(
        "law", "RFC 9002", "reno", stack, "here", 1.0, 0.9, 1.1, "", "1 +- 10 %", trials, compared=True
    )
    return replace(base, **other)  # type: ignore[arg-type]


def trace(
    flows: Columns | None = None,
    links: Columns | None = None,
    drops: Columns | None = None,
    packets: list[tuple[float, str, str]] | None = None,
    variables: Columns | None = None,
) -> Trace:
    """A trace with what is given; packets are (time, flow, event)."""
    sent = pl.DataFrame(
        [
            {"time_s": at, "flow": flow, "event": event, "first_packet": 0, "last_packet": 0, "size_bytes": 1440}
            for at, flow, event in packets or []
        ],
        schema=PACKETS,
    )
    given = {"pacing_bps": [0.0] * len((flows or {}).get("time_s", [])), **(flows or {})}
    others = [pl.DataFrame(part or {}) for part in (variables, links, drops)]
    return Trace(pl.DataFrame(given), others[0], others[1], others[2], sent)


# What the documents print.


@pytest.mark.parametrize("p", [1e-3, 1e-4])
def test_renos_window_under_periodic_loss_is_the_square_root_law(p: float) -> None:
    # sqrt(3/2) = 1.2247, less what the round trip of recovery takes: 3 % at a window of 38, 1 % at 120.
    assert 0.965 <= average_window("reno", p, 0.1, periodic=True) * p**0.5 / 1.2247 <= 1.0


def test_renos_window_under_random_loss_has_the_constant_of_mathis_et_al() -> None:
    # 1.31; recovery takes 1 % at a window of 131.
    assert 1.28 <= average_window("reno", 1e-4, 0.1) * 1e-2 <= 1.32


@pytest.mark.parametrize(
    ("p", "rtt_s", "printed"), [(1e-3, 0.1, 38), (1e-4, 0.1, 187), (1e-3, 0.01, 38), (1e-4, 0.01, 120)]
)
def test_cubics_window_under_periodic_loss_is_that_of_the_tables_of_rfc_9438(
    p: float, rtt_s: float, printed: int
) -> None:
    assert round(cubic_table(p, rtt_s)) == printed
    # Round trips are coarse beside the curve, and recovery takes one of them.
    assert 0.9 <= average_window("cubic", p, rtt_s, periodic=True) / printed <= 1.1


def test_the_tables_of_rfc_9438_are_its_formulas() -> None:
    # Table 1: 1.2 / sqrt(1e-6) = 1200; 1.054 (0.1 / 1e-6)^(3/4) = 1.054 * 5623.4 = 5926.
    assert (round(reno_table(1e-6)), round(cubic_table(1e-6, 0.1) / 10)) == (1200, 593)
    # Table 2, RTT 10 ms: Reno-friendly until 1e-6, 1.054 (0.01 / 1e-7)^(3/4) = 5926 from there.
    assert (round(cubic_table(1e-6, 0.01)), round(cubic_table(1e-7, 0.01) / 10)) == (1200, 593)


def test_bbr_on_long_paths_may_lose_utilisation_to_probe_rtt() -> None:
    # 0.2 + 2 * 0.6 = 1.4 s in each 6.4 s at half of the BDP: 0.99 (1 - 0.5 * 1.4 / 6.4) = 0.8817.
    assert utilisation.least_use("bbr", 0.6)[0] == pytest.approx(0.8817, abs=1e-4)
    # BBRv1 has next to nothing in flight for 1.4 s of 11.4: 1 - 1.4 / 11.4 = 0.8772.
    assert utilisation.least_use("bbr1", 0.6)[0] == pytest.approx(0.8772, abs=1e-4)
    # At 100 ms both lose less than the tenth that every controller may.
    assert [utilisation.least_use(controller, 0.1)[0] for controller in ("bbr", "bbr1", "c4")] == [0.9, 0.9, 0.9]


# What is measured, on traces made by hand.


def test_the_window_is_averaged_over_time_and_not_over_samples() -> None:
    # 10 packets for 9 s, 20 for 1 s: 11, however many samples tell of it.
    flows = pl.DataFrame(
        {"time_s": [0.0, 9.0, 9.1, 9.2, 10.0], "window_bytes": [14400, 28800, 28800, 28800, 28800]}
    )
    assert window.mean_window(flows, 0.0) == pytest.approx(11.0)


def test_bytes_in_flight_count_where_a_packet_leaves() -> None:
    # At 1 s the window falls by 4 packets to 7, with 10 in flight: nothing leaves until half of them have arrived.
    in_flight, window_bytes = [14400, 14400, 8640], [15840, 10080, 10080]
    flows = pl.DataFrame({"time_s": [0.0, 1.0, 2.0], "in_flight_bytes": in_flight, "window_bytes": window_bytes})

    def overshoot(*packets: tuple[float, str, int]) -> float:
        first = (0.0, "acknowledged", 1440)
        table = pl.DataFrame([first, *packets], ["time_s", "event", "size_bytes"], orient="row")
        return window.overshoot(flows, table)

    assert overshoot((0.0, "sent", 14400), (2.0, "acknowledged", 7200), (2.0, "sent", 1440)) == -1.0
    assert overshoot((0.0, "sent", 14400), (1.5, "sent", 1440)) == 4.0


def test_codels_gaps_shrink_with_the_root_of_the_count() -> None:
    right = np.cumsum([0.0] + [0.1 / count**0.5 for count in range(1, 30)])
    assert queues.scaled_gaps(right) == pytest.approx(np.ones(29))
    # Planted: gaps that shrink with the count itself.
    wrong = np.cumsum([0.0] + [0.1 / count for count in range(1, 30)])
    assert queues.scaled_gaps(wrong)[-1] == pytest.approx(29**-0.5)


def test_a_queue_that_waits_longer_weighs_more() -> None:
    links = pl.DataFrame(
        {
            "time_s": [5.0, 6.0, 9.0, 9.5],
            "link": ["down", "down", "down", "up"],
            "queue_delay_s": [0.01, 0.02, 0.5, 1.0],
        }
    )
    # 10 ms for 1 s, 20 ms for 3 s: 17.5 ms; the queue of ACKs does not count.
    assert queues.mean_delay(links, 5.0) == pytest.approx(0.0175)


def test_packets_are_counted_by_kind_of_flow_from_when_queues_are_steady() -> None:
    packets = [(4.9, "c0", "sent"), (5.1, "c0", "sent"), (6.0, "c1", "lost"), (6.0, "l0", "sent")]
    assert queues.count(trace(packets=packets), "c", 5.0) == 1


def dead_path(factor: float = 2.0, first_s: float = 0.066) -> Trace:
    """A path that goes dead at 5 s: two packets for each timeout, each `factor` times as long."""
    moments, at = [4.9, 5.01], 5.01
    for number in range(8):
        at += first_s * factor**number
        moments += [at, at]
    flows = {"time_s": [4.9, 5.0], "flow": ["main"] * 2, "smoothed_rtt_s": [0.04, 0.04]}
    return trace(flows=flows, packets=[(moment, "main", "sent") for moment in moments])


def test_the_window_after_an_outage_is_the_least_one_after_the_last_acknowledgement_before_it() -> None:
    # The window grows from 20 to 40 packets until 0.34 s. At 0.6 s it falls to 2, and one is acknowledged.
    packets = [20, 40, 3, 8]
    flows = {
        "time_s": [0.3, 0.34, 0.6, 0.7],
        "flow": ["main"] * 4,
        "window_bytes": [1440 * number for number in packets],
        "delivered_bytes": [1440 * number for number in (100, 120, 121, 126)],
    }
    assert persistent.windows(trace(flows=flows), 0.34) == pytest.approx({"packets": 2.0, "kept": 3 / 40})


def test_timeouts_are_measured_from_probes_into_a_failed_path() -> None:
    # 40 + max(4 * 0, 1) + 25 = 66 ms.
    found = timeout.timeouts(dead_path(), 5.0)
    assert found == pytest.approx({"first": 1.0, "backoff": 2.0, "probes": 2.0})
    assert timeout.timeouts(dead_path(factor=1.5), 5.0)["backoff"] == pytest.approx(1.5)
    assert timeout.timeouts(dead_path(first_s=0.041), 5.0)["first"] == pytest.approx(0.041 / 0.066)


def cycle(up: float = 1.25) -> Trace:
    """Two cycles of BBRv3 at 10 Mbps with ProbeRTT every 5 s, a sample every 10 ms."""
    lengths = [("DOWN", 0.3), ("CRUISE", 2.2), ("REFILL", 0.08), ("UP", 0.2)]
    gains = {"ProbeBW_DOWN": 0.9, "ProbeBW_UP": up, "ProbeRTT": 0.5}
    states = [(f"ProbeBW_{name}", round(length * 100)) for name, length in lengths] * 2
    states = [("ProbeRTT", 24), ("ProbeBW_CRUISE", 500), ("ProbeRTT", 24), *states, ("ProbeBW_DOWN", 10)]
    every = [state for state, count in states for _ in range(count)]
    bw = 10e6
    return trace(
        flows={
            "time_s": [index / 100 for index in range(len(every))],
            "flow": ["main"] * len(every),
            "state": list(every),
            "pacing_bps": [0.99 * bw * gains.get(state, 1.0) for state in every],
        },
        variables={"time_s": [0.0], "flow": ["main"], "variable": ["bw"], "value": [bw]},
    )


def test_the_cycle_of_bbr_is_read_from_its_states() -> None:
    found = bbr_cycle.version_3(cycle())
    # DOWN 0.3 s and CRUISE 2.2 s are a wait of 2.5 s; ProbeRTT comes 5 s after the last one ended.
    expected = {
        "up": 1.25,
        "down": 0.9,
        "refill_gain": 1.0,
        "margin": 0.99,
        "least_wait": 2.5,
        "most_wait": 2.5,
        "refill": 0.08,
        "interval": 5.0,
        "probe_rtt": 0.24,
    }
    assert found == pytest.approx(expected)
    assert bbr_cycle.version_3(cycle(up=1.1))["up"] == pytest.approx(1.1)


# From numbers to answers.


def test_a_number_on_either_side_of_its_bounds_fails() -> None:
    assert [checks([quantity(value)])[0].answer for value in (0.85, 1.0, 1.18)] == [FAILS, HOLDS, FAILS]
    # Its interval crosses a bound: the trials do not tell.
    assert checks([quantity([1.0, 1.05, 1.1, 1.15, 1.0, 1.1])])[0].answer == UNDECIDED
    assert checks([quantity([1.0] * 5)])[0].answer == UNDECIDED


def test_one_case_that_fails_fails_its_law() -> None:
    (check,) = checks([quantity(1.0), quantity(0.5, case="there")])
    assert check.answer == FAILS
    assert "there" in check.measured


def test_a_law_about_every_trial_fails_by_one_that_breaks_it() -> None:
    # The mean is well within; one trial of six is not, and no interval of a mean would tell.
    trials = [1.0, 1.0, 1.0, 1.0, 1.0, 1.11]
    assert checks([quantity(trials, always=True)])[0].answer == UNDECIDED
    assert checks([quantity([value + 0.15 for value in trials], always=True)])[0].answer == FAILS


def test_stack_and_model_that_differ_by_six_percent_fail() -> None:
    for apart, answer in ((1.06, FAILS), (0.94, FAILS), (1.0, HOLDS)):
        agreement = checks([quantity(1.0), quantity(apart, stack="quic")])[-1]
        assert (agreement.answer, "within 5%" in agreement.name) == (answer, True)


def test_values_outside_a_law_are_shown_with_the_reason_and_not_judged() -> None:
    shown = quantity(0.5, judged=False, reason="too few packets", compared=False)
    assert checks([shown]) == []
    assert findings([shown])[0].reason == "too few packets"


def test_points_that_cost_too_much_are_named() -> None:
    full = PRESETS["full"]
    assert any("10 Gbps, 600 ms" in note for note in full.notes())
    assert PRESETS["complete"].notes() == []
    names = [experiment.name for experiment in PRESETS["complete"].cells()]
    alone = [name for name in names if name.startswith("alone-")]
    # Every path of the grid with six controllers on two stacks.
    assert len(set(alone)) == len(GRID) * 6 * 2
    assert len(set(names)) == len(names)


def planted(experiment: Experiment, **keys: str) -> str:
    """How the checks of an experiment end when its scenario has a fault."""
    scenario = Scenario.from_toml(experiment.toml, "planted", overrides=keys)
    trials = CellTrials(scenario, experiment.trials, 1, ThisMachine(jobs=1), lambda finished: None)
    found = experiment.measure(trials)
    return min((check.answer for check in checks(found)), key=[FAILS, UNDECIDED, HOLDS].index)


def test_a_queue_of_another_target_or_interval_fails_its_law() -> None:
    assert planted(queues.codel(6)) == HOLDS
    assert planted(queues.codel(6), **{"path.queue.interval": "80 ms"}) == FAILS
    assert planted(queues.pie(10, "model", 6, 8.0), **{"path.queue.target": "25 ms"}) == FAILS


def test_the_rules_of_picoquic_are_found() -> None:
    # Picoquic's ACK frequency does not: acknowledgements wait for a quarter of the RTT, 1 ms at least.
    alone = utilisation.experiment("cubic", "model", (100e6, 0.001), 6)
    assert planted(replace(alone, toml=alone.toml)) == HOLDS
    assert planted(alone, **{"transport.rules": "picoquic"}) == HOLDS
    # One packet more than the window (RFC 9002 section 7).
    over = window.experiment("reno", "model", 1e-3, 0.1, 10, 6)
    assert planted(over, **{"transport.rules": "picoquic"}) == FAILS


# From end to end.


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the quick preset; it ended with status 0."""
    folder = tmp_path_factory.mktemp("laws")
    assert main(["study", "laws", "--preset", "quick", "-o", str(folder)]) == 0
    return folder


@pytest.mark.soak
def test_all_laws_of_the_quick_preset_hold(quick: Path) -> None:
    document = json.loads((quick / "experiment.json").read_text(encoding="utf-8"))
    assert {check["answer"] for check in document["checks"]} == {HOLDS}
    laws = {row["law"] for row in document["rows"]}
    assert {
        window.LAW,
        window.IN_FLIGHT,
        utilisation.LAW,
        timeout.LAW,
        persistent.LAW,
        "cycle",
        "coupling",
    } <= laws
    assert {row["stack"] for row in document["rows"]} == {"model", "quic"}
    stacks = ("modelled endpoint", "QUIC stack")
    of_windows = {
        f"{law}: {name}, {stack}"
        for law in ("window", "in flight")
        for name in ("reno", "cubic")
        for stack in stacks
    }
    assert of_windows <= {check["name"] for check in document["checks"]}
    for row in document["rows"]:
        assert row["source"]
        assert row["arithmetic"]
        assert row["at_least"] <= row["expected"] <= row["at_most"]


@pytest.mark.soak
def test_every_trial_of_the_study_can_be_played_again(quick: Path) -> None:
    files = sorted((quick / "scenarios").glob("*.toml"))
    assert len(files) == len(list(PRESETS["quick"].cells()))
    assert Scenario.load(files[0]).flows
    page = (quick / "report.html").read_text(encoding="utf-8")
    assert page.count("RFC 9002") > 1


@pytest.mark.soak
def test_the_tables_fit_a_terminal(quick: Path) -> None:
    document = json.loads((quick / "experiment.json").read_text(encoding="utf-8"))
    result = StudyResult("laws", "", "", "quick", 6, 1, rows=document["rows"])
    tables = STUDY.tables(result)
    assert [table.words for table in tables] == [4, 2]
    for table in tables:
        with (console := Console(width=200)).capture() as captured:
            console.print(plain_table(table.headers, table.lines, table.words))
        assert max(len(line.rstrip()) for line in captured.get().splitlines()) <= 80


@pytest.mark.parametrize(
    "option",
    [["--preset", "slow"], ["--stack", "tcp"], ["-c", "renoo"], ["--stack", "quic", "-c", "kernel:cubic"]],
)
def test_wrong_input_is_refused_with_one_message(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "laws", "--preset", "quick", *option]) == 2
    assert capsys.readouterr().out == ""
