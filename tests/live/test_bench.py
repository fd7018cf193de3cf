"""`thalweg bench`: stacks as they are, side by side under the conditions of a suite.

Needs what `test_programs.py` needs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from real_time import needs_rights, networks
from thalweg.cli import main
from thalweg.results.suite_result import SuiteResult
from waiting import until

Capture = pytest.CaptureFixture[str]
ENDS = Path(__file__).with_name("aioquic_ends.py")
PATH = 'title = "Short"\ntime_limit = "20 s"\n[path]\nrate = "20 Mbps"\nrtt = "10 ms"\nbuffer = "4 bdp"\n'
FLOW = '[[flow]]\nname = "{name}"\ncontroller = "cubic"\ndownload = "{size}"\n'
WEB = f"""name = "web"
server = "{sys.executable} -m http.server {{port}} --directory {{www}}"
client = "curl -sf -o {{downloads}}/{{file}} {{url}}"
ready = "tcp:{{port}}"
port = 8000
scheme = "http"
"""

pytestmark = pytest.mark.realtime


@pytest.fixture
def conditions(tmp_path: Path) -> str:
    folder = tmp_path / "conditions"
    folder.mkdir()
    (folder / "alone.toml").write_text(PATH + FLOW.format(name="main", size="300 kB"))
    beside = FLOW.format(name="main", size="300 kB") + FLOW.format(name="beside", size="600 kB")
    (folder / "beside.toml").write_text(PATH + beside)
    return str(folder)


def stack(tmp_path: Path, text: str, name: str = "web") -> str:
    file = tmp_path / f"{name}.toml"
    file.write_text(text.replace('name = "web"', f'name = "{name}"'))
    return str(file)


def bench(capsys: Capture, *arguments: str, bound: str = "20 ms") -> tuple[int, Any, str]:
    """Status, document and errors. A busy machine may be as late as the bound says."""
    capsys.readouterr()
    status = main(["bench", *arguments, "--realtime", "--bound", bound, "--format", "json"])
    said = capsys.readouterr()
    return status, json.loads(said.out) if said.out else None, said.err


def metric(document: Any, condition: str, name: str) -> Any:
    return next(m for m in document["metrics"] if (m["scenario"], m["metric"]) == (condition, name))


@needs_rights
def test_a_stack_that_waits_is_worse_than_itself_and_all_is_kept(
    conditions: str, tmp_path: Path, capsys: Capture
) -> None:
    before, out = networks(), tmp_path / "out"
    slow = WEB.replace("curl -sf", "curl -sf --limit-rate 300k")
    arguments = (stack(tmp_path, WEB), stack(tmp_path, slow, "slow"), "--suite", conditions, "--only", "alone")
    status, document, said = bench(capsys, *arguments, "-n", "12", "--width", "40 %", "--out", str(out))
    assert status == 1
    assert "worse: alone: main" in said
    rate = metric(document, "alone", "rate")
    # 300 kB at 300 kB/s take at least half a second, and 0.2 s without the limit.
    assert rate["answer"] == "worse"
    assert rate["by"] == "ratio"
    assert rate["interval95"][1] < 0.9
    # It stops as soon as the interval is narrow enough, after eight rounds at the earliest.
    (condition,) = document["conditions"]
    assert 8 <= condition["rounds"] == rate["n"] <= 12
    kept = sorted(path.name for path in (out / "alone" / "slow-2").iterdir())
    assert kept == ["main-client.log", "main-server.log", "packets.pcapng"]
    for side in ("a", "b"):
        assert SuiteResult.load(out / side).outcomes[0].n == rate["n"]
    assert main(["compare", str(out / "a"), str(out / "b")]) in {0, 1}
    until(lambda: not networks() - before, "all namespaces are gone")


@needs_rights
def test_what_is_taken_from_a_neighbour_is_beside_the_kernels_cubic(
    conditions: str, tmp_path: Path, capsys: Capture
) -> None:
    arguments = (stack(tmp_path, WEB), "--suite", conditions, "--only", "beside", "-n", "1")
    status, document, said = bench(capsys, *arguments)
    assert status == 2
    assert "too few rounds for an interval: beside; it takes 8 (-n)" in said
    (condition,) = document["conditions"]
    assert condition["taken"]["web"]["n"] == 1
    assert -1 < condition["taken"]["web"]["value"] < 1
    of = [(one["flow"], one["metric"]) for one in document["metrics"]]
    assert of[-1] == ("beside", "rate")
    # The kernel's CUBIC is its own reference: it takes nothing from itself.
    _, document, _ = bench(capsys, "kernel:cubic", "--suite", conditions, "--only", "beside", "-n", "1")
    assert document["conditions"][0]["taken"]["kernel:cubic"]["value"] == 0


@needs_rights
def test_a_stack_of_quic_has_a_certificate_and_its_qlog_is_collected(
    conditions: str, tmp_path: Path, capsys: Capture
) -> None:
    quic = f"""name = "aioquic"
server = "{sys.executable} {ENDS} server {{port}} {{certificate}} {{key}} {{qlog}}"
client = "{sys.executable} {ENDS} client {{address}} {{port}} {{bytes}} {{qlog}}"
ready = "udp:{{port}}"
"""
    out = tmp_path / "out"
    arguments = (stack(tmp_path, quic, "aioquic"), "--suite", conditions, "--only", "alone", "-n", "1")
    _, document, _ = bench(capsys, *arguments, "--out", str(out))
    assert metric(document, "alone", "completion")["a"] >= 0.12 + 0.015  # 2.4 Mbit at 20 Mbps, 1.5 round trips
    (trial,) = list((out / "alone").iterdir())
    logs = list((trial / "qlog").iterdir())
    assert logs
    for log in logs:
        document = json.loads(log.read_text())
        assert document["traces"][0]["events"]


@needs_rights
def test_an_endpoint_after_the_contract_says_by_its_status_what_it_cannot(
    conditions: str, tmp_path: Path, capsys: Capture
) -> None:
    script = tmp_path / "run_endpoint.sh"
    script.write_text(
        f"""#!/bin/sh
[ "$TESTCASE" = transfer ] || exit 127
if [ "$ROLE" = server ]; then exec {sys.executable} -m http.server 443 --directory "$WWW"; fi
for url in $REQUESTS; do curl -sf -o "$DOWNLOADS/$(basename "$url")" "http:${{url#https:}}" || exit 1; done
"""
    )
    script.chmod(0o755)
    text = 'name = "web"\ncontract = "interop"\nserver = "./run_endpoint.sh"\nclient = "./run_endpoint.sh"\n'
    text += 'ready = "tcp:443"\n'
    arguments = ("--suite", conditions, "--only", "alone", "-n", "1")
    _, document, _ = bench(capsys, stack(tmp_path, text), *arguments)
    assert metric(document, "alone", "completion")["a"] > 0.12
    status, _, said = bench(capsys, stack(tmp_path, text + 'testcase = "http3"\n'), *arguments)
    assert status == 2
    assert "status 127" in said
    assert 'the test case "http3" is not supported' in said


@needs_rights
def test_a_bench_whose_trials_are_all_late_has_no_answer(conditions: str, tmp_path: Path, capsys: Capture) -> None:
    arguments = (stack(tmp_path, WEB), "--suite", conditions, "--only", "alone", "-n", "1", "--retry", "1")
    status, document, said = bench(capsys, *arguments, bound="1 ns")
    assert status == 4
    assert document["conditions"][0]["left_out"] == 1
    assert document["conditions"][0]["repeated"] == 2
    assert "2 trials were not what the scenario describes and discarded; 1 round is left out: " in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such.toml"], "no-such.toml"),
        (["no-such-controller", "-n", "1"], "no-such-controller"),
        (["cubic", "--width", "none"], "--width 'none' is not a share; accepted: \"5 %\""),
        (["cubic", "--width", "0 %"], "--width '0 %' is not a share"),
        (["cubic", "--suite", "no-such-suite"], "no suite 'no-such-suite'"),
        (["cubic", "--only", "no-such"], "--only 'no-such' matches no scenario of live"),
        (["cubic", "--bound", "soon"], "--bound"),
        (["cubic", "--out", "."], ". is not empty; accepted: a new or an empty folder"),
    ],
)
def test_what_a_bench_cannot_be_asked_is_refused(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(["bench", *arguments]) == 2
    assert said in capsys.readouterr().err


@needs_rights
def test_trials_in_real_time_are_stored_and_compared(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "short.toml"
    file.write_text(PATH + FLOW.format(name="main", size="300 kB"))
    command = ["run", str(file), "--live", "--bound", "20 ms", "--realtime", "-n", "2"]
    for out, controller in (("a", "kernel:cubic"), ("b", "cubic")):
        assert main([*command, "-c", f"main={controller}", "--out", str(tmp_path / out)]) == 0
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert SuiteResult.load(tmp_path / "a").outcomes[0].flows["controller"].to_list() == ["kernel:cubic"] * 2
    capsys.readouterr()
    assert main([*command, "--capture", str(tmp_path / "packets.pcap")]) == 2
    assert "the name must end in .pcapng" in capsys.readouterr().err


@needs_rights
def test_a_suite_in_real_time_is_stored_and_judged(conditions: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "stored"
    arguments = ["suite", conditions, "--live", "-n", "2", "--bound", "20 ms", "--realtime", "--out", str(out)]
    assert main([*arguments, "--no-report", "-c", "main=kernel:reno"]) == 0
    stored = SuiteResult.load(out)
    assert [outcomes.n for outcomes in stored.outcomes] == [2, 2]
    assert set(stored.outcomes[0].flows["controller"]) == {"kernel:reno"}
    assert main(["suite", conditions, "--live", "--against", "cubic"]) == 2
    assert "--against cannot be combined with --live" in capsys.readouterr().err
    assert main(["suite", conditions, "--realtime"]) == 2
    assert "require --live" in capsys.readouterr().err
