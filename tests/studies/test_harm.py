"""The study harm: its rows and rules on trials made by hand, its scenarios, and small runs of the whole."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from thalweg.base.errors import RequestError
from thalweg.base.files.document import HEAD
from thalweg.cli import main
from thalweg.engine.catalogue import list_scenarios
from thalweg.engine.outcome import Description, Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.harm.blocks import parameter_blocks
from thalweg.experiments.studies.harm.checks import checks, findings
from thalweg.experiments.studies.harm.figures import plot_distributions, plot_harm, plot_matrix
from thalweg.experiments.studies.harm.measure import COMPLETION, MEASURES, Trials, measure, notes, row
from thalweg.experiments.studies.harm.parameters import COMPETITOR, PRESETS, SHORT, Cell, Parameters, parse_queue
from thalweg.experiments.studies.harm.published import LINES
from thalweg.experiments.studies.harm.study import COLUMNS, STUDY, CellOutcomes
from thalweg.experiments.studies.runner.study import Finished
from thalweg.trials.machine import ThisMachine

Capture = pytest.CaptureFixture[str]
Small = Finished[Parameters, Cell, CellOutcomes]

ALONE = Cell("20 ms", "cubic", None)
BESIDE_CUBIC, BESIDE_BBR = replace(ALONE, competitor="cubic"), replace(ALONE, competitor="bbr")
SMALL = Parameters(
    rtts=("20 ms",),
    queue="drop-tail",
    host="ideal",
    competitors=("cubic", "bbr"),
    count=40,
    head_start="2 s",
    time_limit="60 s",
)
SMALL_OPTIONS = ["--queue", "drop-tail", "--count", "20", "--head-start", "1 s", "--rtt", "20 ms", "-n", "2"]


def trials(geomean: list[float], loss: float = 0.01, unfinished: int = 0, rate: float | None = None) -> Trials:
    """Trials in which all times are these; throughput falls as they grow."""
    times = np.array(geomean)
    values = {"geomean": times, "median": times, "p95": 5 * times, "throughput": 1e6 / times}
    values |= {"rtt": times / 10, "queue_delay": times / 20, "loss": np.full(len(times), loss)}
    competitor = None if rate is None else np.full(len(times), rate)
    return Trials(values, 900 * len(times), unfinished, competitor, 0.1)  # type: ignore[arg-type]


def outcomes_by_hand(requests: list[tuple[int, float, int, float | None]]) -> Outcomes:
    """Outcomes of short flows (trial, start, bytes, completion) beside a competitor of 10 Mbps."""
    names = ["trial", "start_s", "bytes", "completion_s"]
    schema = {"trial": pl.Int64, "start_s": pl.Float64, "bytes": pl.Int64, "completion_s": pl.Float64}
    columns = dict(zip(names, map(list, zip(*requests, strict=True)), strict=True))
    table = pl.DataFrame(columns, schema=schema).with_columns(flow=pl.lit(SHORT))
    count = table["trial"].n_unique()
    ordered = list(range(count))
    flows = pl.DataFrame(
        {
            "trial": [*ordered, *ordered],
            "flow": [SHORT] * count + [COMPETITOR] * count,
            "mean_rtt_s": 0.03,
            "mean_queue_delay_s": 0.01,
            "packets_sent": 200,
            "packets_dropped": 2,
            "packets_lost_at_random": 1,
            "shared_rate_bps": [1e6] * count + [1e7] * count,
        }
    )
    of_trials = pl.DataFrame({"trial": ordered, "core_s": 0.5})
    about = Description("x", None, "X", None, None, "", [], [], None, time_limit_s=100.0)
    return Outcomes(about, flows, pl.DataFrame(), of_trials, table)


def test_a_trial_is_measured_by_its_short_flows() -> None:
    # Times 1, 4 and 2 s: geometric mean 2, median 2, P95 4; 8 * 700 kB in 7 s of flow time: 800 kbps.
    lines = [(0, 0.0, 100_000, 1.0), (0, 5.0, 500_000, 9.0), (0, 6.0, 100_000, 8.0)]
    measured = measure(outcomes_by_hand([*lines]))
    values = {name: float(value[0]) for name, value in measured.values.items()}
    assert values["geomean"] == pytest.approx(2.0)
    assert (values["median"], values["p95"]) == (2.0, 4.0)
    assert values["throughput"] == pytest.approx(800e3)
    assert values["loss"] == pytest.approx(0.015)  # 3 of 200
    assert (values["rtt"], values["queue_delay"]) == (0.03, 0.01)
    assert (measured.requests, measured.unfinished) == (3, 0)
    assert measured.competitor_bps is not None
    assert measured.competitor_bps.tolist() == [1e7]


def test_short_flows_that_did_not_finish_stay_as_infinite_and_as_long_as_they_were_there() -> None:
    # In the second trial one of two flows starts at 50 s of 100 and never completes: infinite in P95; 50 s in the
    # geometric mean, sqrt(4 * 50) = 14.142, and in the throughput, 8 * 100 kB in 54 s.
    lines = [(0, 0.0, 100_000, 4.0), (0, 1.0, 100_000, 5.0), (1, 0.0, 100_000, 4.0), (1, 50.0, 900_000, None)]
    measured = measure(outcomes_by_hand(lines))
    assert measured.values["geomean"] == pytest.approx([4.0, 200**0.5])
    assert measured.values["p95"].tolist() == [4.0, float("inf")]
    assert measured.values["throughput"][1] == pytest.approx(8e5 / 54)
    assert (measured.requests, measured.unfinished) == (4, 1)


def test_a_row_has_the_mean_of_the_harms_of_its_replications_and_their_interval() -> None:
    measured = {ALONE: trials([1.0, 2.0, 1.0]), BESIDE_BBR: trials([4.0, 4.0, 2.0], rate=2e7)}
    values = row(BESIDE_BBR, measured)
    # 3/4, 2/4, 1/2: mean 7/12; s = 0.144338, t(0.975, 2) = 4.302653: 4.302653 * 0.144338 / sqrt(3) = 0.358557.
    assert values["geomean_harm"] == pytest.approx(7 / 12)
    assert values["geomean_harm_low"] == pytest.approx(7 / 12 - 0.358557, abs=1e-5)
    assert values["geomean_harm_high"] == pytest.approx(7 / 12 + 0.358557, abs=1e-5)
    assert values["geomean_excess"] == pytest.approx(5 / 3)  # (3 + 1 + 1) / 3
    assert values["throughput_harm"] == pytest.approx(7 / 12)  # rates are the inverse of times here
    assert values["geomean_s"] == pytest.approx(10 / 3)
    assert values["competitor_bps"] == 2e7
    assert values["geomean_beyond_itself"] is None  # nobody ran against cubic
    alone = row(ALONE, measured)
    assert alone["geomean_s"] == pytest.approx(4 / 3)
    assert "geomean_harm" not in alone


def test_what_a_competitor_does_beyond_the_own_controller_is_paired_by_seed() -> None:
    measured = {ALONE: trials([1.0, 2.0]), BESIDE_CUBIC: trials([2.0, 3.0]), BESIDE_BBR: trials([4.0, 8.0])}
    values = row(BESIDE_BBR, measured)
    # Harm by bbr 3/4 and 3/4, by cubic 1/2 and 1/3: beyond it 1/4 and 5/12, mean 1/3.
    assert values["geomean_beyond_itself"] == pytest.approx(1 / 3)
    assert row(BESIDE_CUBIC, measured)["geomean_beyond_itself"] == 0.0


def test_of_a_matrix_it_is_said_how_many_cells_are_more_than_chance() -> None:
    times = np.linspace(0.95, 1.05, 10).tolist()
    slower = [2 * time for time in times]
    measured = {ALONE: trials(times), BESIDE_CUBIC: trials(times[::-1]), BESIDE_BBR: trials(slower)}
    assert notes(measured) == [
        "Harm to the geometric mean differs from 0 by more than 0.01 in 1 of 2, at most 5 % of them by chance; "
        "one by one it would in 1"
    ]
    assert notes({ALONE: trials([1.0]), BESIDE_BBR: trials([2.0])}) == []


def test_loss_that_vanishes_in_competition_is_no_harm() -> None:
    measured = {ALONE: trials([1.0, 1.0], loss=0.01), BESIDE_BBR: trials([1.0, 1.0], loss=0.0)}
    values = row(BESIDE_BBR, measured)
    assert (values["loss_harm"], values["loss"]) == (None, 0.0)  # (0 - 0.01) / 0: no number
    assert values["loss_excess"] == -1.0


def published_trials() -> dict[Cell, Trials]:
    """Six replications for each cell, all with the times that are published."""
    cells = {}
    for (rtt_s, competitor), line in LINES.items():
        times = {measure.name: np.full(6, getattr(line, measure.column)) for measure in COMPLETION}
        rest = {measure.name: np.full(6, 1.0) for measure in MEASURES if measure.name not in times}
        cell = Cell(f"{1e3 * rtt_s:g} ms", "cubic", competitor)
        cells[cell] = Trials(times | rest, 900, 0, None, 0.0)
    return cells


def test_the_formulas_give_the_published_harm_on_the_published_times() -> None:
    cells = published_trials()
    for cell in cells:
        values = row(cell, cells, published=True)
        for quantity in COMPLETION:
            assert values[f"published_{quantity.column}"] == pytest.approx(values[quantity.column])
            if cell.competitor:
                # Times are printed with four digits, harm with three.
                assert values[f"{quantity.name}_harm"] == pytest.approx(
                    values[f"published_{quantity.name}_harm"], abs=1.1e-3
                )


def test_the_published_table_passes_its_own_checks_and_an_altered_one_does_not() -> None:
    cells = published_trials()
    assert len(checks(cells)) == 12
    assert all(check.holds for check in checks(cells))
    swapped = {
        replace(cell, competitor={"cubic": "prague", "prague": "cubic"}.get(cell.competitor or "")): trials
        for cell, trials in cells.items()
    }
    lost = {check.name for check in checks(swapped) if not check.holds}
    assert "Prague harms them more than CUBIC does at every RTT (median)" in lost
    assert "one long CUBIC flow harms short CUBIC flows at every RTT (P95)" not in lost


def test_the_published_times_are_of_their_own_magnitude_and_half_of_them_are_not() -> None:
    cells = published_trials()
    assert len(findings(cells)) == 12
    assert all(finding.holds for finding in findings(cells))
    halved = {key: replace(cell, values={k: v / 2 for k, v in cell.values.items()}) for key, cell in cells.items()}
    lost = {finding.name for finding in findings(halved) if not finding.holds}
    assert "completion times next to Prague (P95), to a factor of 1.5" in lost
    # Harm compares two times of the same table: it does not change.
    assert "next to Prague, cubic flows take more than twice as long as alone (P95)" not in lost


def test_published_values_stand_only_beside_rows_of_the_published_experiment() -> None:
    assert Parameters().as_published
    assert Parameters(rtts=("20 ms",), competitors=("bbr", "cubic")).as_published
    assert not Parameters(rate="20 Mbps").as_published
    assert not Parameters(host="ideal").as_published
    measured = {ALONE: trials([1.0]), BESIDE_CUBIC: trials([2.0])}
    assert row(BESIDE_CUBIC, measured, published=True)["published_geomean_harm"] == 0.355
    assert row(BESIDE_CUBIC, measured)["published_geomean_harm"] is None


def test_the_preset_is_the_published_experiment_and_any_other_is_custom() -> None:
    assert STUDY.preset_name(Parameters()) == "ccafct"
    assert STUDY.preset_name(replace(Parameters(), count=800)) == "custom"
    assert len(Parameters().cells()) == 15  # 5 RTTs, alone and two competitors
    names = [cell.name for cell in PRESETS["matrix"].cells()]
    everyone = len(PRESETS["matrix"].controllers)
    assert len(set(names)) == len(names) == everyone * (1 + everyone)


def test_the_shipped_scenarios_are_those_of_the_preset_on_ideal_hosts() -> None:
    shipped = {"alone": None, "against-cubic": "cubic", "against-prague": "prague"}
    assert {f"ccafct/{name}" for name in shipped} == {name for name in list_scenarios() if "ccafct" in name}
    for name, competitor in shipped.items():
        file = tomllib.loads(Scenario.load(f"ccafct/{name}").toml)
        made = tomllib.loads(Parameters(host="ideal").scenario(replace(ALONE, competitor=competitor)).toml)
        described = {"title", "source", "note", "pass"}
        assert {key: value for key, value in file.items() if key not in described} == {
            key: value for key, value in made.items() if key not in described
        }


def test_the_scenario_of_a_cell_has_all_parameters_and_its_competitor_does_not_hold_up_the_end() -> None:
    scenario = SMALL.scenario(BESIDE_BBR)
    short, competitor = scenario.flows
    assert (short["name"], short["controller"], short["start_s"]) == (SHORT, "cubic", 2.0)
    assert (competitor["name"], competitor["controller"], competitor["start_s"]) == (COMPETITOR, "bbr", 0.0)
    assert not competitor["awaited"]
    assert scenario.description.time_limit_s == 60.0
    assert [flow["start_s"] for flow in SMALL.scenario(ALONE).flows] == [2.0]


def test_flows_have_the_hosts_of_ccafct_and_the_queue_sees_their_bundles_whole() -> None:
    published = tomllib.loads(Parameters().scenario(BESIDE_CUBIC).toml)
    assert [flow["host"] for flow in published["flow"]] == ["linux", "linux"]
    assert published["path"]["splits"] is False
    ideal = tomllib.loads(Parameters(host="ideal").scenario(BESIDE_CUBIC).toml)
    assert "splits" not in ideal["path"]
    assert all("host" not in flow for flow in ideal["flow"])
    live = tomllib.loads(PRESETS["live"].scenario(Cell("20 ms", "kernel:cubic", None)).toml)
    assert "host" not in live["flow"][0]  # its hosts are real


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("drop-tail", '{ model = "drop-tail" }'),
        ("codel:ecn", '{ model = "codel", ecn = true }'),
        (
            "fq-codel:flows=1, target=5 ms,ecn=off",
            '{ model = "fq-codel", flows = 1, target = "5 ms", ecn = false }',
        ),
    ],
)
def test_options_of_a_queue_ride_on_its_name(text: str, table: str) -> None:
    assert parse_queue(text) == tomllib.loads(f"queue = {table}")["queue"]


@pytest.fixture(scope="module")
def small() -> Small:
    """Forty short flows, alone and beside two competitors, twice."""
    return STUDY.run(SMALL, trials=2, seed=5)


def test_trials_start_at_all_phases_of_a_round_trip() -> None:
    scenario = replace(SMALL, count=1).scenario(replace(BESIDE_CUBIC, rtt="80 ms"))
    assert isinstance(scenario, Scenario)
    flows = scenario.trials(12).flows
    for name, planned in ((SHORT, 2.0), (COMPETITOR, 0.0)):
        late = flows.filter(pl.col("flow") == name)["start_s"].to_numpy() - planned
        assert late.min() >= 0
        assert 0.04 < np.ptp(late) < 0.08  # up to one round trip


def test_short_flows_arrive_alike_whoever_competes(small: Small) -> None:
    drawn = [kept.outcomes.requests.select("trial", "start_s", "bytes") for kept in small.cells.values()]
    assert len(drawn) == 3
    assert drawn[0].equals(drawn[1])
    assert drawn[0].equals(drawn[2])
    first, second = drawn[0].partition_by("trial", include_key=False)
    assert not first.equals(second)  # replications differ


def test_arrivals_and_lengths_follow_the_given_distributions() -> None:
    short = Parameters(rtts=("20 ms",), queue="drop-tail", competitors=(), head_start="0 s")
    requests = STUDY.run(short, trials=4).cells[ALONE].outcomes.requests
    gaps = np.concatenate([np.diff(trial["start_s"].to_numpy()) for trial in requests.partition_by("trial")])
    lengths = np.log(requests["bytes"].to_numpy().astype(float))
    # 3596 gaps of mean and deviation 0.2 s: the mean is within 3 * 0.2 / sqrt(3596) = 0.01 s of 0.2 s.
    assert gaps.mean() == pytest.approx(0.2, abs=0.01)
    assert gaps.std() == pytest.approx(0.2, abs=0.015)
    # mu = (ln 65536 + ln 2097152) / 2 = 12.8232, sigma = ln 32 / 3.29 = 1.05342; 3 sigma / sqrt(3600) = 0.053.
    assert lengths.mean() == pytest.approx(12.8232, abs=0.053)
    assert lengths.std() == pytest.approx(1.05342, abs=0.04)


def test_competition_costs_time_and_each_measure_has_its_row(small: Small) -> None:
    alone, cubic, bbr = small.result.rows
    assert alone["competitor"] is None
    for competing, cell in ((cubic, BESIDE_CUBIC), (bbr, BESIDE_BBR)):
        assert float(competing["geomean_s"] or 0) > float(alone["geomean_s"] or 0)
        for quantity in MEASURES:
            before, after = (small.cells[each].trials.values[quantity.name] for each in (ALONE, cell))
            # Of times (competing - solo) / competing, of rates (solo - competing) / solo.
            harms = 1 - after / before if quantity.more_is_better else 1 - before / after
            assert competing[f"{quantity.name}_harm"] == pytest.approx(harms.mean())
        # Loss falls beside a long flow: harm below 0 is not cut off.
        assert -2 < float(competing["loss_harm"] or 0) < 0
    # Two flows share 50 Mbps. Seeds 5 to 8 give 0.20 to 0.26 beside CUBIC and 0.48 to 0.68 beside BBR.
    assert 0.1 < float(cubic["geomean_harm"] or 0) < 0.4 < float(bbr["geomean_harm"] or 0) < 0.8
    assert small.result.checks == []  # nothing is published of such an experiment
    # Rows of flows alone have no harm; those beside a competitor have all columns.
    assert {*alone} < {*cubic} == {column.key for column in COLUMNS}


def test_the_same_seed_gives_the_same_rows_whatever_the_jobs(small: Small) -> None:
    again = STUDY.run(SMALL, trials=2, seed=5, executor=ThisMachine(jobs=1))
    assert again.result.document()["rows"] == small.result.document()["rows"]


def test_flows_that_a_time_limit_cuts_off_are_shown() -> None:
    cut = STUDY.run(replace(SMALL, time_limit="4 s"), trials=2)
    for values in cut.result.rows:
        # Of two times 40 flows some would have begun after the end: they are none of its flows.
        assert 0 < int(values["unfinished"] or 0) < int(values["requests"] or 0) < 80
        assert values["p95_s"] == float("inf")


def test_a_time_limit_before_any_reply_is_refused() -> None:
    with pytest.raises(RequestError, match="no short flow got a reply within the time limit of 500 ms"):
        STUDY.run(replace(SMALL, time_limit="500 ms"), trials=1)


def test_figures_show_every_competitor_and_the_published_values(small: Small) -> None:
    cells = published_trials()
    table = [row(cell, cells, published=True) for cell in cells]
    drawn = json.dumps(plot_harm(table, COMPLETION, "Harm").to_dict())
    for shown in ("prague", "cubic", "published", "here", "0.85"):
        assert shown in drawn
    # The intervals of two competitors stand beside each other, at equal distances from the RTT they are both of.
    panel = pl.read_csv(next(iter(plot_harm(table, COMPLETION, "Harm").to_dict()["datasets"].values())).encode())
    at = panel.filter(pl.col("rtt_ms") == 20).group_by("competitor").agg(pl.col("at_ms").unique()).sort("at_ms")
    left, right = at["at_ms"].explode().to_list()
    assert (left, right) == pytest.approx((20 * 2 ** (-1 / 24), 20 * 2 ** (1 / 24)), rel=1e-6)
    matrix = json.dumps(plot_matrix(small.result.rows, COMPLETION[0], "Matrix").to_dict())
    assert matrix.count('"victim": "cubic"') == 2
    times = {None: np.array([1.0, 3.0]), "bbr": np.array([2.0, 8.0])}
    curves = plot_distributions({"cubic": times}, "Times")
    assert "alone" in json.dumps(curves.to_dict())


def test_kernel_and_simulator_stand_side_by_side_and_never_meet() -> None:
    live = PRESETS["live"]
    cells = Parameters.cells(replace(live, rtts=("20 ms",)))
    names = [(cell.controller, cell.competitor) for cell in cells]
    assert names == [
        ("kernel:cubic", None),
        ("cubic", None),
        ("kernel:cubic", "kernel:cubic"),
        ("cubic", "cubic"),
        ("kernel:cubic", "kernel:bbr"),
        ("cubic", "bbr1"),
    ]
    # 10 s of head start and 99 gaps of 200 ms in each of 3 cells of the kernel; 290 s at the most.
    assert replace(live, rtts=("20 ms",)).live_span_s(2) == pytest.approx((6 * 29.8, 6 * 290))
    of_simulator = published_trials()
    both: dict[Cell, Trials] = {}
    for cell, trials in of_simulator.items():
        if cell.competitor in (None, "cubic"):
            kernel = replace(cell, controller="kernel:cubic", competitor=cell.competitor and "kernel:cubic")
            both |= {kernel: trials, cell: trials}
    table = [row(cell, both, published=True) for cell in both]
    # The same trials have the same harm, whoever sent, and the same published values beside them.
    assert table[2]["geomean_harm"] == table[3]["geomean_harm"]
    assert table[2]["published_geomean_harm"] == table[3]["published_geomean_harm"] is not None
    drawn = json.dumps(plot_harm(table, COMPLETION, "Harm").to_dict())
    assert "in real time" in drawn
    assert "simulated" in drawn
    sides = plot_distributions({"kernel:cubic": {None: np.ones(3)}, "cubic": {None: np.ones(3)}}, "Times")
    assert len(sides.to_dict()["hconcat"]) == 2


def test_the_command_prints_the_document_and_stores_what_it_is_made_of(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "harm"
    options = [*SMALL_OPTIONS, "--competitor", "bbr", "--competitor", "cubic", "--rtt", "40 ms"]
    assert main(["study", "harm", *options, "--format", "json", "--out", str(folder)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["name"], document["preset"], document["trials"]) == ("harm", "custom", 2)
    assert {*HEAD, "preset", "rows", "checks"} <= document.keys()
    assert [row["competitor"] for row in document["rows"]] == [None, "bbr", "cubic"] * 2
    stored = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    for beside in ("files", "hashes", "sha256"):
        assert stored.pop(beside)
    assert stored == document
    requests = pl.read_parquet(folder / "requests.parquet")
    assert requests.height == 2 * 3 * 2 * 20  # RTTs, cells, replications, flows
    assert (folder / "scenarios" / "40ms-cubic-bbr.toml").is_file()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("data-figure=") == 3 + 2  # over the RTT; a distribution for each RTT
    assert 'src="http' not in page


def test_the_published_experiment_has_the_parameter_blocks_of_the_sample_output() -> None:
    test, workload = parameter_blocks(Parameters()).values()
    assert test["controllers under test"] == "cubic, prague"
    assert test["RTTs"] == "10 ms, 20 ms, 40 ms, 80 ms, 160 ms"
    assert (test["bandwidth"], test["queue"], test["slow start delay"]) == ("50 Mbps", "fq-codel:flows=1", "20 s")
    # ccafct prints 3m0s, 900, 200ms, 25.83Mbps, and P5 65536, mean 645683, P95 2097152.
    assert (workload["duration"], workload["flows"], workload["mean arrival time"]) == ("180 s", "900", "200 ms")
    assert workload["estimated bandwidth"] == "25.83 Mbps"
    assert workload["flow lengths"] == "P5 65536 B, mean 645683 B, P95 2097152 B"


def test_the_parameter_blocks_stand_in_the_table_on_the_page_and_in_the_document(
    tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "harm"
    assert main(["study", "harm", *SMALL_OPTIONS, "--competitor", "bbr", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    page = (folder / "report.html").read_text(encoding="utf-8")
    stored = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))["parameters"]
    assert stored["Test"]["queue"] == "drop-tail"
    assert stored["Test"]["buffer"] == "1 bdp"
    assert stored["Short flow workload"]["flows"] == "20"
    for block in stored.values():
        for name, value in block.items():
            assert f"<dt>{name}</dt><dd>{value}</dd>" in page
            assert name in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--controller", "cubc"], "cubc"),
        (["--competitor", "prag"], "prag"),
        (["--rtt", "10"], "rtt"),
        (["--rate", "fast"], "fast"),
        (["--queue", "drop-tail:=3"], "expected MODEL"),
        (["--queue", "nonsense"], "nonsense"),
        (["--p5", "3 MB"], "p5"),
        (["--mean-gap", "1 B"], "mean_gap"),
        (["--gap", "normal"], "normal"),
        (["--count", "0"], "count"),
        (["--replications", "0"], "replications"),
        (["--head-start", "never"], "never"),
        (["--preset", "ccafc"], "did you mean ccafct"),
        (["--rtt", "+20 ms"], "--rtt '+20 ms'"),
    ],
)
def test_a_wrong_option_is_one_message_and_status_two(
    options: list[str], message: str, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "out"
    assert main(["study", "harm", *SMALL_OPTIONS, "--competitor", "cubic", *options, "--out", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert "Traceback" not in said.err
    assert not folder.exists()


def test_no_replication_is_refused() -> None:
    with pytest.raises(RequestError, match="at least 1"):
        STUDY.run(SMALL, trials=0)


def same_keys(rows: list[dict[str, Any]]) -> set[frozenset[str]]:
    return {frozenset(row) for row in rows}


def test_rows_against_a_competitor_have_the_same_columns_and_are_json(small: Small) -> None:
    rows = small.result.document()["rows"]
    assert len(same_keys(rows[1:])) == 1
    json.dumps(rows, allow_nan=False)
