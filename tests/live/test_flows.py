"""Flows in real time: the kernel's TCP and the QUIC stack behind the path of a scenario, and studies with them.

Needs what `test_programs.py` needs. What is measured is set against the simulator.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from real_time import PATH, needs_rights, networks, shell
from thalweg import Scenario
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.catalogue import find_scenario
from thalweg.realtime import LiveScenario, play
from waiting import until

SAMPLED = 'sample = "25 ms"\n[path]'
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

pytestmark = pytest.mark.realtime


def load(tmp_path: Path, text: str, **controllers: str) -> LiveScenario:
    file = tmp_path / "path.toml"
    file.write_text(text)
    return LiveScenario.from_entry(find_scenario(file), (), controllers)


@needs_rights
class TestQuic:
    """Flows of our controllers: the QUIC stack over UDP."""

    def test_a_flow_alone_takes_as_long_as_in_the_simulator_and_fills_its_columns(self, tmp_path: Path) -> None:
        text = PATH.replace('"cubic"', '"c4"').replace('"1 MB"', '"4 MB"')
        simulated = Scenario.from_toml(text, "path", overrides={"flow.main.stack": "quic"})
        trials = simulated.trials(9)
        expected = trials.flows["completion_s"].median()
        assert isinstance(expected, float)
        live = load(tmp_path, text)
        ratios: list[float] = []
        # A busy machine takes the ends off their core; one trial in four may be told of the path.
        while len(ratios) < 4 and not any(0.93 <= ratio <= 1.07 for ratio in ratios):
            done = live.run(seed=1 + len(ratios), trace=True, realtime=True)
            ratios.append(done.trial.flows["completion_s"][0] / expected)
        # Never faster than physics: 32 Mbit at 20 Mbps.
        assert all(ratio * expected >= 1.6 for ratio in ratios)
        assert 0.93 <= ratios[-1] <= 1.07, f"over {expected} s: {ratios}"
        outcomes, trace = done.trial.outcomes, done.trial.trace
        computed = simulated.run(seed=1, trace=True).trace
        assert trace is not None
        assert computed is not None
        assert outcomes.flows.schema == trials.flows.schema
        for series in ("flows", "variables", "links", "drops", "packets"):
            assert set(getattr(trace, series).columns) == set(getattr(computed, series).columns), series
        flow = outcomes.flows.row(0, named=True)
        assert (flow["controller"], flow["bytes_delivered"]) == ("c4", 4_000_000)
        # The close takes a round trip more.
        assert flow["completion_s"] + 0.040 <= flow["closed_s"] < flow["completion_s"] + 1
        assert flow["min_rtt_s"] >= 0.040
        # Packets have at most 1440 bytes of payload, and what was dropped had to be sent again.
        assert flow["packets_sent"] >= 4_000_000 / 1440 + flow["packets_dropped"]
        sent = trace.packets.filter(pl.col("event") == "sent")
        assert flow["packets_sent"] - 20 <= sent.height <= flow["packets_sent"]
        assert sent["size_bytes"].max() == 1440
        assert set(trace.flows["flow"]) == {"main"}
        # No value is not a number, as in the simulator, which a comparison counts as the largest.
        samples = trace.flows["latest_rtt_s"].drop_nans()
        assert samples.len() > 100
        assert samples.is_between(0.040, 1).all()
        assert outcomes.verdict().answer == "holds"

    def test_a_controller_in_python_that_fails_is_named_with_its_line(self, tmp_path: Path) -> None:
        bad = tmp_path / "bad.py"
        bad.write_text(
            "import thalweg\n\n\nclass Bad(thalweg.Controller):\n"
            "    def on_ack(self, event, path):\n        [][0]\n"
        )
        live = load(tmp_path, PATH, main=str(bad))
        with pytest.raises(RequestError, match="list index out of range") as refused:
            live.run(seed=3)
        said = str(refused.value)
        assert said.startswith(f"{bad}:6: IndexError: list index out of range (in on_ack of {bad}: ")
        assert "the trial with seed 3, at 0." in said

    def test_a_flow_beside_one_of_the_kernel_shares_the_bottleneck_and_leaves_nothing(
        self, tmp_path: Path
    ) -> None:
        before = networks()
        other = '[[flow]]\nname = "background"\ncontroller = "kernel:cubic"\ndownload = "3 MB"\n'
        text = PATH.replace('"1 MB"', '"3 MB"').replace("[[pass]]", other + "[[pass]]")
        done = load(tmp_path, text, main="c4").run(trace=True)
        flows = {flow["flow"]: flow for flow in done.trial.flows.to_dicts()}
        assert [flow["controller"] for flow in flows.values()] == ["c4", "kernel:cubic"]
        # Both wait for the criterion of main only; the other is reported at the end.
        assert flows["main"]["finished"]
        assert flows["main"]["completion_s"] >= 1.2, "24 Mbit at 20 Mbps"
        assert all(0.1 <= flow["share"] <= 0.9 for flow in flows.values())
        assert sum(flow["shared_rate_bps"] for flow in flows.values()) < 20e6
        assert done.trial.trace is not None
        assert set(done.trial.trace.flows["flow"]) == {"main", "background"}
        assert set(done.trial.trace.packets["flow"]) == {"main"}
        until(lambda: not networks() - before, "all namespaces are gone")

    def test_both_finish_if_both_are_waited_for(self, tmp_path: Path) -> None:
        other = '[[flow]]\nname = "back"\ncontroller = "noq:cubic"\nupload = "1 MB"\n'
        text = PATH.partition("[[pass]]")[0] + other
        flows = load(tmp_path, text, main="kernel:cubic").run().trial.flows
        assert flows["finished"].all()
        assert flows["controller"].to_list() == ["kernel:cubic", "noq:cubic"]
        # 8 Mbit at 20 Mbps in each direction.
        assert all(0.4 <= time < 5 for time in flows["completion_s"])
        assert flows["bytes_delivered"].to_list() == [1_000_000, 1_000_000]

    def test_requests_have_a_connection_each_with_the_arrivals_of_the_simulator(self, tmp_path: Path) -> None:
        requests = 'requests = { count = 6, mean_gap = "50 ms", p5 = "20000 B", p95 = "100000 B" }'
        text = PATH.replace('download = "1 MB"', requests)
        done = load(tmp_path, text).run(trace=True)
        real, computed = done.trial.outcomes, Scenario.from_toml(text, "path").run(seed=1).outcomes
        assert real.requests.schema == computed.requests.schema
        drawn = ("trial", "seed", "request", "bytes")
        assert real.requests.select(drawn).equals(computed.requests.select(drawn))
        for row in real.requests.to_dicts():
            # Two round trips of 40 ms for handshake and request, and the bits at 20 Mbps.
            least = 0.080 + 8 * row["bytes"] / 20e6
            assert least <= row["completion_s"] - row["start_s"] < 5
        assert done.trial.trace is not None
        assert set(done.trial.trace.flows["flow"]) == {f"main/{number}" for number in range(6)}

    def test_future_connections_do_not_delay_the_start_and_late_ones_are_reported(self, tmp_path: Path) -> None:
        requests = 'requests = { count = 10000, mean_gap = "20 ms", p5 = "1000 B", p95 = "2000 B" }'
        text = PATH.replace('download = "1 MB"', requests).partition("[[pass]]")[0]
        live = load(tmp_path, 'time_limit = "1 s"\n' + text)
        # To make ten thousand connections takes longer than the second that there is.
        done = live.run(bound="500 ms")
        assert (done.report["late_starts"], done.report["trace_cut"]) == (0, None)
        assert 0 < done.report["start_lateness_max_s"] <= 0.5
        finished = done.trial.outcomes.requests["completion_s"].drop_nans()
        # Some 50 begin in a second, and each takes two round trips of 40 ms.
        assert 10 < finished.len() < 200
        told = live.run(bound="10 ns").report
        begun = done.trial.outcomes.requests.filter(pl.col("start_s") < 1)
        assert 0 < told["late_starts"] <= begun.height
        assert any("started" in reason and "the bound is 10 ns" in reason for reason in told["unfaithful"])

    def test_a_call_has_the_columns_and_the_delays_of_its_streams(self, tmp_path: Path) -> None:
        text = PATH.replace('download = "1 MB"', 'call = "2 s"').partition("[[pass]]")[0]
        text += '[[flow]]\nname = "other"\ncontroller = "kernel:reno"\ndownload = "100 kB"\n'
        outcomes = load(tmp_path, text, main="c4").run().trial.outcomes
        alone = Scenario.from_toml(text.partition('[[flow]]\nname = "other"')[0], "path").run(seed=1).outcomes
        assert outcomes.flows.schema == alone.flows.schema
        assert outcomes.streams.schema == alone.streams.schema
        assert outcomes.streams.select("flow", "stream").equals(alone.streams.select("flow", "stream"))
        audio, video, _ = outcomes.streams.to_dicts()
        # 50 frames of audio and 30 of video in a second, each after a request: two ways of 20 ms.
        assert (audio["frames"], video["frames"]) == (100, 60)
        assert 0.040 <= video["mean_delay_s"] <= video["max_delay_s"] < 2
        assert 2 <= outcomes.flows["completion_s"][0] < 8


@needs_rights
class TestKernelTcp:
    @pytest.mark.parametrize("controller", ["kernel:cubic", "kernel:reno", "kernel:bbr"])
    def test_a_download_keeps_its_floor_and_fills_the_columns_of_the_simulator(
        self, controller: str, tmp_path: Path
    ) -> None:
        if controller.removeprefix("kernel:") not in AVAILABLE.read_text().split():
            pytest.skip(f"this kernel has no {controller}")
        live = load(tmp_path, PATH, main=controller)
        done = live.run(seed=1, trace=True)
        outcomes, report = done.trial.outcomes, done.report
        simulated = Scenario.from_toml(PATH, "path").run(seed=1, trace=True)
        assert outcomes.flows.schema == simulated.outcomes.flows.schema
        assert outcomes.trials.schema == simulated.outcomes.trials.schema
        assert set(simulated.outcomes.links.columns) <= set(outcomes.links.columns)
        assert done.trial.trace is not None
        assert simulated.trace is not None
        for series in ("flows", "variables", "links", "drops", "packets"):
            real, computed = getattr(done.trial.trace, series), getattr(simulated.trace, series)
            assert set(real.columns) == set(computed.columns), series
        flow = outcomes.flows.row(0, named=True)
        assert flow["controller"] == controller
        assert flow["bytes_delivered"] == 1_000_000
        assert live.description.floor_s is not None
        assert live.description.floor_s <= flow["completion_s"] < 5
        assert flow["completion_s"] <= flow["closed_s"]
        assert flow["min_rtt_s"] >= 0.040
        # 1 MB are at least 691 segments of 1448 bytes; what was dropped had to be sent again.
        assert flow["packets_sent"] >= 691 + flow["packets_dropped"]
        assert outcomes.verdict().answer == "holds"
        assert report["links"][0]["dropped_packets"] >= flow["packets_dropped"]
        assert all(delivered <= 1_000_000 for delivered in done.trial.trace.flows["delivered_bytes"])
        done.trial.trace.save(tmp_path / "trace.parquet")
        assert pl.read_parquet(tmp_path / "trace.parquet").height > 10

    def test_several_flows_share_the_path_in_both_directions(self, tmp_path: Path) -> None:
        more = '[[flow]]\nname = "other"\ncontroller = "kernel:cubic"\nstart = "300 ms"\ndownload = "1 MB"\n'
        back = '[[flow]]\nname = "back"\ncontroller = "kernel:reno"\nupload = "500 kB"\n'
        text = PATH.replace("[[pass]]", f"{more}{back}[[pass]]").replace('flow = "main"', 'flow = "other"')
        done = load(tmp_path, text, main="kernel:cubic").run()
        flows = {flow["flow"]: flow for flow in done.trial.flows.to_dicts()}
        assert flows["other"]["start_s"] >= 0.3
        assert flows["other"]["completion_s"] > 0.3 + 0.4, "8 Mbit at 20 Mbps, after its start"
        assert flows["back"]["finished"]
        assert flows["back"]["completion_s"] >= 0.2, "4 Mbit at 20 Mbps"
        assert flows["back"]["packets_sent"] >= 346
        shares = [flow["share"] for flow in flows.values()]
        assert sum(shares) == pytest.approx(1)
        assert 0 < done.trial.outcomes.trials["jain"][0] <= 1

    def test_the_time_limit_ends_unfinished_flows(self, tmp_path: Path) -> None:
        endless = PATH.replace('"1 MB"', '"100 MB"\nbackground = true')
        text = 'time_limit = "1 s"\n' + endless.partition("[[pass]]")[0]
        done = load(tmp_path, text, main="kernel:cubic").run()
        flow = done.trial.flows.row(0, named=True)
        assert not flow["finished"]
        # Less than 20 Mbit in a second, more than nothing.
        assert 0 < flow["bytes_delivered"] < 2_500_000
        assert 1 <= done.trial.outcomes.trials["end_s"][0] < 3

    def test_the_command_line_judges_and_reports(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "path.toml"
        file.write_text(PATH)
        report = tmp_path / "report.json"
        arguments = ["run", str(file), "--live", "-c", "main=kernel:cubic", "--trials", "2", "--format", "json"]
        status = main([*arguments, "--bound", "10 s", "--report", str(report)])  # whatever else the host does
        printed = capsys.readouterr()
        document = json.loads(printed.out)
        assert status == 0
        assert document["scenarios"][0]["trials"] == 2
        assert [link["name"] for link in document["live"][1]["links"]] == ["down", "up"]
        assert json.loads(report.read_text()) == document["live"]
        assert "released late by" in printed.err

    def test_requests_are_an_open_loop_of_connections_with_the_arrivals_of_the_simulator(
        self, tmp_path: Path
    ) -> None:
        requests = 'requests = { count = 12, mean_gap = "50 ms", p5 = "20000 B", p95 = "200000 B" }'
        text = PATH.replace('download = "1 MB"', requests).replace('"main"', '"short"').replace("[path]", SAMPLED)
        live = load(tmp_path, text, short="kernel:cubic")
        played = play(live, 2, 1)
        real, computed = played.outcomes, Scenario.from_toml(text, "path").trials(2)
        assert real.requests.schema == computed.requests.schema
        drawn = ("trial", "seed", "request", "bytes")
        assert real.requests.select(drawn).equals(computed.requests.select(drawn))
        # The simulator moves the start of each flow by some microseconds.
        starts = [outcome.requests["start_s"].to_list() for outcome in (real, computed)]
        assert starts[0] == pytest.approx(starts[1], abs=1e-3)
        for row in real.requests.to_dicts():
            # Two round trips of 40 ms for handshake and request, and the bits at 20 Mbps.
            least = 0.080 + 8 * row["bytes"] / 20e6
            assert least <= row["completion_s"] - row["start_s"] < 5
            # Segments of 1448 bytes.
            assert row["packets_sent"] >= row["bytes"] / 1448
        flow = real.flows.row(1, named=True)
        of_trial = real.requests.filter(pl.col("trial") == 1)
        assert flow["bytes_delivered"] == of_trial["bytes"].sum()
        assert flow["completion_s"] == of_trial["completion_s"].max()
        assert flow["packets_sent"] == of_trial["packets_sent"].sum()
        # All data crosses the path, with 52 bytes of headers in a segment; what is dropped is only sent.
        series = real.series(1, "short")
        assert series.every_s == 0.025
        assert flow["bytes_delivered"] < series.received.sum() <= series.sent.sum()
        assert series.sent.sum() < 1.3 * flow["bytes_delivered"]
        # 20 Mbps are 62 500 bytes in 25 ms.
        assert set(real.capacity(1, "down")) == {62_500}
        assert len(real.capacity(1, "down")) == len(series.sent)

    @pytest.mark.parametrize(("kernel", "model"), [("kernel:cubic", "cubic"), ("kernel:bbr", "bbr1")])
    def test_a_flow_alone_takes_as_long_as_in_the_simulator(self, kernel: str, model: str, tmp_path: Path) -> None:
        if kernel.removeprefix("kernel:") not in AVAILABLE.read_text().split():
            pytest.skip(f"this kernel has no {kernel}")
        text = PATH.replace("40 ms", "80 ms").replace('"1 MB"', '"10 MB"').replace('"5 s"', '"60 s"')
        simulated = Scenario.from_toml(text, "path", controllers={"main": model}).trials(9)
        expected = simulated.flows["completion_s"].median()
        assert isinstance(expected, float)
        live = load(tmp_path, text, main=kernel)
        ratios: list[float] = []
        # A busy machine takes the kernel's TCP off its core; one trial in four may be told of the path.
        while len(ratios) < 4 and not any(0.95 <= ratio <= 1.05 for ratio in ratios):
            done = live.run(seed=1 + len(ratios), realtime=True)
            ratios.append(done.trial.flows["completion_s"][0] / expected)
        # Never faster than physics: 80 Mbit at 20 Mbps.
        assert all(ratio * expected >= 4.0 for ratio in ratios)
        assert 0.95 <= ratios[-1] <= 1.05, f"{kernel} over {model}: {ratios}"


@needs_rights
class TestStudies:
    def study(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, Any], str]:
        # Whatever else the host does: these tests are about numbers, test_strict_timing about lateness.
        status = main(["study", *arguments, "--bound", "10 s", "--retry", "5", "--format", "json"])
        printed = capsys.readouterr()
        assert status == 0, printed.err
        return json.loads(printed.out), printed.err

    def test_harm_compares_the_kernel_with_the_simulator(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        size = ["--rtt", "20 ms", "--count", "8", "--mean-gap", "100 ms", "--p95", "200000 B", "-n", "1"]
        size += ["--head-start", "500 ms"]
        sides = ["-c", "kernel:cubic", "--competitor", "kernel:reno"]
        document, said = self.study(capsys, "harm", "--live", *size, *sides, "-o", str(tmp_path / "harm"))
        # Two cells of the kernel: 0.5 s of head start and 7 gaps of 100 ms each; 290 s each at the most.
        assert "real time: about 2.4 s, 580 s at the most" in said
        rows = document["rows"]
        assert [(row["controller"], row["competitor"]) for row in rows] == [
            ("kernel:cubic", None),
            ("cubic", None),
            ("kernel:cubic", "kernel:reno"),
            ("cubic", "reno"),
        ]
        assert all(row["requests"] == 8 for row in rows)
        assert rows[0].keys() == rows[1].keys()
        # The largest of eight is at least the mean, which takes a handshake, a request and an answer: 40 ms.
        assert all(0.04 < row["geomean_s"] <= row["p95_s"] < 60 for row in rows)
        # One request that waits for a busy machine, when alone, makes the harm of the others negative.
        assert rows[2]["geomean_harm"] <= 1
        assert 0 <= rows[3]["geomean_harm"] <= 1
        assert 0 < rows[2]["competitor_bps"] < 50e6
        assert [report["seed"] for report in document["live"]] == [1, 1]
        assert "2 trials in real time" in said
        page = (tmp_path / "harm" / "report.html").read_text()
        assert "kernel:cubic" in page
        assert page.count("data-figure=") == 1  # kernel and simulator share it

    def test_transient_compares_the_kernel_with_the_simulator(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        size = ["--duration", "4 s", "--buffer", "40 packets", "-n", "1", "-c", "kernel:reno"]
        document, said = self.study(capsys, "transient", "--live", *size, "-o", str(tmp_path / "transient"))
        assert "real time: about 4 s" in said
        real, computed = document["rows"]
        assert (real["controller"], computed["controller"]) == ("kernel:reno", "reno")
        # Of 12 Mbps, both get most within 4 s, and never more than there is but for what waits in the buffer.
        assert 0.5 < real["level"] < 1.1
        assert 0.5 < computed["level"] < 1.1
        # A sender that starts from zero loses at least a round trip of 50 ms of the capacity.
        assert real["lost_s"] > 0.05
        assert real["undershoot"] > 0
        assert len(document["live"]) == 1
        assert "kernel:reno" in (tmp_path / "transient" / "report.html").read_text()


class TestRefusals:
    def test_the_modelled_endpoint_does_not_run_in_real_time(self, tmp_path: Path) -> None:
        file = tmp_path / "path.toml"
        for key, problem in (
            ("stack = 'model'", "cannot be combined with real time"),
            ("zero_rtt = true", "cannot be combined with real time"),
        ):
            file.write_text(PATH.replace("[[pass]]", f"{key}\n[[pass]]"))
            with pytest.raises(RequestError, match=problem):
                LiveScenario.from_entry(find_scenario(file))
        for path, flow in (("splits = false", ""), ("", 'host = "linux"')):
            text = PATH.replace("[path]", f"[path]\n{path}").replace("[[pass]]", f"{flow}\n[[pass]]")
            file.write_text(text)
            with pytest.raises(RequestError, match="cannot be combined with real time, where"):
                LiveScenario.from_entry(find_scenario(file))
        file.write_text(PATH + '[transport]\ninitial_mtu = "1473 B"\n')
        with pytest.raises(RequestError, match=r"at most 1\.472 kB"):
            LiveScenario.from_entry(find_scenario(file))

    def test_controllers_of_the_kernel_do_not_run_in_the_simulator(self) -> None:
        with pytest.raises(RequestError, match="thalweg run --live"):
            Scenario.from_toml(PATH.replace('"cubic"', '"kernel:cubic"'), "path.toml")

    def test_a_controller_that_the_kernel_does_not_have_is_refused_with_its_line_and_those_it_has(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "path.toml"
        file.write_text(PATH.replace('"cubic"', '"kernel:none-such"'))
        assert main(["run", str(file), "--live"]) == 2
        problem = '"kernel:none-such" is not a congestion control of this kernel; accepted: '
        in_file = capsys.readouterr().err
        assert f"path.toml:10: flow.0.controller: {problem}" in in_file
        assert "kernel:reno" in in_file
        assert in_file.count("\n") == 1
        file.write_text(PATH)
        assert main(["run", str(file), "--live", "-c", "main=kernel:none-such"]) == 2
        assert f"--controller main=kernel:none-such: {problem}" in capsys.readouterr().err
        set_ = "flow.main.controller=kernel:none-such"
        assert main(["run", str(file), "--live", "--set", set_]) == 2
        assert f"--set {set_}: flow.0.controller: {problem}" in capsys.readouterr().err

    def test_a_name_that_is_not_utf8_is_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "path.toml"
        file.write_text(PATH.replace('"cubic"', '"kernel:cubic"'))
        assert main(["run", str(file), "--live", "--set", "flow.main.name=5"]) == 2
        error = capsys.readouterr().err
        assert "--set flow.main.name=5: `name = 5`: 5 is a number; accepted: a text in quotes" in error

    def test_a_file_with_a_controller_of_the_kernel_can_be_simulated_with_another(self) -> None:
        text = PATH.replace('"cubic"', '"kernel:cubic"')
        scenario = Scenario.from_toml(text, "path.toml", controllers={"main": "c4"})
        assert scenario.flows[0]["controller"] == "c4"

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["shell", "c4/simple-20mbps"], "a command is missing"),
            (["shell", "c4/none-such", "--", "true"], "none-such"),
            (["run", "c4/simple-20mbps", "--realtime"], "--live"),
            (["study", "harm", "--realtime"], "--live"),
            (["study", "harm", "--live", "-c", "cubic"], "kernel:cubic"),
            (["study", "transient", "--live", "-c", "c4"], "kernel:cubic"),
            (["run", "c4/media-20s", "--live", "-c", "main=kernel:cubic"], "kernel"),
            (["run", "c4/simple-20mbps", "--live", "--stack", "model"], "cannot be combined with --live"),
            (["run", "c4/simple-20mbps", "--live", "-c", "main=noq:none"], "noq:newreno"),
            (["run", "c4/simple-20mbps", "--live", "-c", "main=c44"], "c44"),
        ],
    )
    def test_wrong_requests_have_status_2(
        self, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(arguments) == 2
        assert problem in capsys.readouterr().err

    @needs_rights
    def test_a_path_can_be_had_whoever_carries_its_flows(self, tmp_path: Path) -> None:
        file = tmp_path / "path.toml"
        for controller in ("kernel:cubic", "kernel:none-such", "noq:cubic"):
            file.write_text(PATH.replace('"cubic"', f'"{controller}"'))
            assert main(["shell", str(file), "--", "sh", "-c", "exit 3"]) == 3

    @needs_rights
    def test_a_report_that_cannot_be_written_is_one_message(self, capsys: pytest.CaptureFixture[str]) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        assert main(["shell", "c4/simple-20mbps", "--report", "/dev/full", "--", "true"]) == 2
        complaint = capsys.readouterr().err
        assert complaint.count("error: ") == 1
        assert "cannot write /dev/full" in complaint
        assert "Traceback" not in complaint

    @needs_rights
    def test_a_path_of_several_hops_and_a_wrong_bound_are_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hops = PATH.replace("[path]", '[[link]]\nname = "a"').replace(
            "[[flow]]", '[[link]]\nname = "b"\nrate = "10 Mbps"\nrtt = "10 ms"\n[[flow]]\nroute = ["a", "b"]'
        )
        with pytest.raises(RequestError, match="one hop"):
            shell("true", toml=hops)
        (tmp_path / "hops.toml").write_text(hops)
        assert main(["run", str(tmp_path / "hops.toml"), "--live", "-c", "main=kernel:cubic"]) == 2
        complaint = capsys.readouterr().err
        assert "one hop" in complaint
        assert complaint.count("\n") == 1
        with pytest.raises(RequestError, match=r'bound .*accepted: "80 ms"'):
            shell("true", bound="3 parsec")
