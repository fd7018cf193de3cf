"""What a bench is asked, and what pairs of trials say: without real time."""

from __future__ import annotations

import math
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from thalweg.base.errors import RealTimeError, RequestError
from thalweg.cli import main
from thalweg.cli.bench.table import print_bench
from thalweg.engine.catalogue import Entry, find_scenario
from thalweg.engine.scenario import Scenario
from thalweg.experiments.bench import Plan, Side, run_bench, side_of
from thalweg.experiments.bench import bench as playing
from thalweg.experiments.bench.contestant import Contestant
from thalweg.experiments.bench.stack_file import Room, StackFile
from thalweg.judging.measures import MEASURES
from thalweg.judging.pairs import Pairs
from thalweg.judging.statistics.sequential import median_interval
from thalweg.judging.thresholds import DEFAULTS
from thalweg.realtime import Timing, executor
from thalweg.results.suite_result import SuiteResult

PATH = 'title = "Short"\ntime_limit = "20 s"\n[path]\nrate = "20 Mbps"\nrtt = "10 ms"\nbuffer = "4 bdp"\n'


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "stack.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "a"', "the key 'client' is missing; accepted: a command, a line for sh"),
        ('client = "a"', "the key 'name' is missing"),
        ('name = ""\nclient = "a"', "name: '' cannot be used; accepted: a name for tables"),
        ('name = "a"\nclient = 3', "client: 3 cannot be used; accepted: a command"),
        ('name = "a"\nclient = "a\\u0000"', "stack.toml:2: has the character U+0000"),
        (
            'name = "a"\nclient = "get {ulr}"',
            "client: unknown word {ulr}; accepted: {address}, {port}, {url}",
        ),
        ('name = "a"\nclient = "a"\nclinet = "b"', "unknown key 'clinet'; did you mean client?"),
        ('name = "a"\nclient = "a"\ntitle = "b"', "unknown key 'title'; known: name, client, server, ready,"),
        ('name = "a"\nclient = "a"\nport = 0', "port: 0 is out of range; accepted: 1 to 65535"),
        ('name = "a"\nclient = "a"\nport = "http"', "port: 'http' is out of range"),
        ('name = "a"\nclient = "a"\nport = true', "port: True is out of range"),
        ('name = "a"\nclient = "a"\nscheme = "ftp"', 'scheme: \'ftp\' is not known; accepted: "https" or "http"'),
        ('name = "a"\nclient = "a"\ncount = "bytes"', "count: 'bytes' is not known; accepted: \"workload\""),
        ('name = "a"\nclient = "a"\ncontract = "quic"', "contract: 'quic' is not known; accepted: \"interop\""),
        ('name = "a"\nclient = "a"\ncontract = "interop"', 'contract = "interop" requires server'),
        ('name = "a"\nclient = "a"\ntestcase = "http3"', 'testcase requires contract = "interop"'),
        (
            'name = "a"\nclient = "a"\nserver = "b"\nport = 80\ncontract = "interop"',
            'port cannot be combined with contract = "interop"',
        ),
        ('name = "a"\nclient = "a"\nready = "tcp:80"', "ready requires server"),
        ("name = ", "stack.toml:1: "),
    ],
)
def test_a_file_that_names_no_stack_is_refused_with_its_key_and_what_is_accepted(
    text: str, said: str, tmp_path: Path
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(RequestError) as refused:
        StackFile.read(file)
    assert str(refused.value).startswith(str(file))
    assert said in str(refused.value)


def test_words_in_braces_stand_for_what_a_run_gives_and_others_are_the_shells(tmp_path: Path) -> None:
    text = 'name = "a"\nserver = "serve {www} {address}:{port}"\n'
    text += 'client = "get {url} >{downloads}/{file} ${x} | awk \'{{print}}\' {bytes}"\nready = "tcp:{port}"\n'
    stack = StackFile.read(written(tmp_path, text))
    room = Room(tmp_path / "a room")
    table = stack.command(room, 5000)
    assert table["ready"] == "tcp:4433"
    assert table["server"] == f"cd {tmp_path} || exit\nserve '{room.www}' $THALWEG_ADDRESS:4433"
    url = "https://$THALWEG_PEER:4433/5000"
    assert table["client"].endswith(f"get {url} >'{room.downloads}'/5000 ${{x}} | awk '{{print}}' 5000")


def test_all_commands_run_in_the_folder_of_the_file_those_behind_an_ampersand_too(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    text = 'name = "a"\nserver = "pwd & pwd; wait"\nclient = "pwd & pwd; wait"\nready = "pwd & pwd; wait"\n'
    table = StackFile.read(written(folder, text)).command(Room(tmp_path), 5000)
    for key in ("server", "client", "ready"):
        done = subprocess.run(["sh", "-c", table[key]], capture_output=True, text=True, check=True)
        assert done.stdout == f"{folder}\n" * 2


def test_names_and_commands_have_any_letters(tmp_path: Path) -> None:
    # An emoji is two escapes in JSON, which TOML refuses.
    file = written(tmp_path, 'name = "\U0001f40e"\nclient = "echo \U0001f40e"\n')
    scenario = side_of(str(file)).scenario(condition(tmp_path), (), Room(tmp_path / "room"))
    assert scenario.toml.count("\U0001f40e") == 2  # the name and the command
    assert scenario.flows[0]["controller"] == "command:\U0001f40e"


def test_an_endpoint_after_the_contract_of_the_interop_runner_gets_its_variables(tmp_path: Path) -> None:
    text = 'name = "a"\ncontract = "interop"\nserver = "./run.sh"\nclient = "./run.sh"\ntestcase = "http3"\n'
    table = StackFile.read(written(tmp_path, text)).command(Room(tmp_path), 5000)
    assert table["ready"] == "udp:443"
    for end in ("client", "server"):
        for variable in (f"ROLE={end}", "TESTCASE=http3", f"QLOGDIR={tmp_path}/qlog", f"CERTS={tmp_path}/certs"):
            assert f"export {variable}" in table[end].splitlines()
    assert "export REQUESTS=https://$THALWEG_PEER:443/5000" in table["client"].splitlines()
    assert "REQUESTS" not in table["server"]


def test_two_sides_of_one_name_are_told_apart(tmp_path: Path) -> None:
    assert side_of("kernel:cubic", ["kernel:cubic"]).name == "kernel:cubic 2"
    file = written(tmp_path, 'name = "a"\nclient = "b"\n')
    assert side_of(str(file), ["a", "a 2"]).name == "a 3"


def condition(tmp_path: Path, flow: str = 'download = "300 kB"', name: str = "one", more: str = "") -> Entry:
    file = tmp_path / f"{name}.toml"
    file.write_text(PATH + f'[[flow]]\nname = "main"\ncontroller = "cubic"\n{flow}\n{more}')
    return find_scenario(file)


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ('upload = "300 kB"', "one.toml: main: programs of a stack file take a download"),
        ('download = "300 kB"\nbackground = true', "main: programs of a stack file cannot be in the background"),
        (
            'download = "5 GB"',
            "main: download 5 GB is too much for programs of a stack file; accepted: at most 4 GB",
        ),
    ],
)
def test_a_condition_that_does_not_fit_is_refused_before_the_first_round(
    flow: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "faithful", lambda *_: pytest.fail("a trial was played"))
    other = "[[flow]]\nname = 'other'\ncontroller = 'cubic'\ndownload = '300 kB'\n"
    entries = [condition(tmp_path, name="first"), condition(tmp_path, flow, more=other)]
    plan = Plan(entries, [side_of(str(written(tmp_path, 'name = "a"\nclient = "true"\n')))], DEFAULTS)
    with pytest.raises(RequestError) as refused:
        run_bench(plan, Timing(), lambda *_: None)
    assert said in str(refused.value)


def test_a_condition_with_several_hops_is_refused_before_the_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "faithful", lambda *_: pytest.fail("a trial was played"))
    link = '[[link]]\nname = "{name}"\nrate = "20 Mbps"\nrtt = "5 ms"\nbuffer = "50 kB"\n'
    flow = '[[flow]]\nname = "main"\ncontroller = "cubic"\nroute = ["a", "b"]\ndownload = "300 kB"\n'
    file = tmp_path / "hops.toml"
    file.write_text('title = "Hops"\ntime_limit = "20 s"\n' + link.format(name="a") + link.format(name="b") + flow)
    plan = Plan([condition(tmp_path), find_scenario(file)], [side_of("cubic")], DEFAULTS)
    with pytest.raises(RequestError, match=r"hops\.toml: real time requires a path with one hop"):
        run_bench(plan, Timing(), lambda *_: None)


def test_a_file_that_is_served_takes_no_room(tmp_path: Path) -> None:
    side = side_of(str(written(tmp_path, 'name = "a"\nclient = "true"\n')))
    side.scenario(condition(tmp_path, 'download = "4 GB"'), (), Room(tmp_path / "room"))
    served = (tmp_path / "room" / "www" / "4000000000").stat()
    assert served.st_size == 4 * 10**9
    assert served.st_blocks * 512 < 10**6


def in_time(outcomes: Any) -> Any:
    """A trial that was what its scenario describes."""
    return SimpleNamespace(trial=SimpleNamespace(outcomes=outcomes), report={"unfaithful": [], "attempts": 1})


def test_the_reference_of_what_is_taken_plays_once_where_it_is_a_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(playing, "kernel_controllers", lambda: {"cubic"})
    played: list[str] = []
    # The neighbour gets 8 Mbps beside CUBIC and 6 Mbps beside the other: a quarter less. In round 2 it gets
    # nothing beside CUBIC, and nothing can be less than that.
    rates = {("kernel:cubic", 2): 0.0, ("kernel:cubic", 1): 8e6, ("other", 1): 6e6}
    rates |= {
        (name, seed): 5e6 for name in ("kernel:cubic", "other") for seed in (2, 3) if (name, seed) not in rates
    }

    def faithful(contestant: Contestant, seed: int, *_: object) -> Any:
        played.append(contestant.side.name)
        return in_time((contestant.side.name, seed))

    monkeypatch.setattr(executor, "faithful", faithful)
    monkeypatch.setattr(playing, "value_of", lambda outcomes, *_: rates[outcomes])
    other = "[[flow]]\nname = 'beside'\ncontroller = 'cubic'\ndownload = '300 kB'\n"
    entries = [condition(tmp_path, more=other)]
    cubic = side_of("kernel:cubic")
    plan = Plan(entries, [side_of("cubic"), cubic], DEFAULTS, rounds=3)
    plan = replace(plan, sides=[replace(plan.sides[0], name="other"), cubic])
    done = run_bench(plan, Timing(), lambda *_: None)
    (found,) = done.conditions
    assert played == ["other", "kernel:cubic", "kernel:cubic", "other", "other", "kernel:cubic"]
    assert found.taken == {"other": [0.25, 0.0], "kernel:cubic": [0.0, 0.0]}
    # A neighbour that gets more is not "-20 % less".
    found.taken["other"] = [-0.2]
    print_bench(done, "live", 0.05)
    assert (
        "taken by other from beside (one): -20.0 % of what it gets next to the kernel's CUBIC"
        in capsys.readouterr().out
    )
    # Where no side is, it plays besides, on both ends of the order.
    played.clear()
    run_bench(replace(plan, sides=plan.sides[:1], rounds=2), Timing(), lambda *_: None)
    assert played == ["other", "kernel:cubic", "kernel:cubic", "other"]


def test_a_program_that_fails_ends_a_bench_that_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The second condition never works: of the first, one round of both sides is there.
    def faithful(contestant: Contestant, *_: object) -> Any:
        if contestant.name == "bbr, two":
            raise RealTimeError("bbr, two, seed 1: flow main failed: no luck")
        return in_time(Scenario.from_entry(contestant.entry).run().outcomes)

    monkeypatch.setattr(executor, "faithful", faithful)
    for name in ("one", "two"):
        condition(tmp_path, name=name)
    out = tmp_path / "out"
    assert main(["bench", "cubic", "bbr", "--suite", str(tmp_path), "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert "two, seed 1: flow main failed: no luck; what was measured until then is shown" in said.err
    lines = said.out.splitlines()
    # Two sides have the same columns under a condition without a round.
    (rate,) = [line for line in lines if " rate " in line and "Mbps" in line]
    assert rate.split()[-1] == "1"
    empty = lines[next(number for number, line in enumerate(lines) if line.startswith("two")) :][:4]
    assert all(line.split()[-1] == "0" and "undecided" in line for line in empty)
    for side in ("a", "b"):
        assert [one.n for one in SuiteResult.load(out / side).outcomes] == [1]
    # Where nothing was measured, the failure is all there is.
    assert main(["bench", "bbr", "--suite", str(tmp_path), "--only", "two"]) == 2
    said = capsys.readouterr()
    assert (said.out, "no luck" in said.err, "is shown" in said.err) == ("", True, False)


def test_sides_that_would_share_a_folder_are_refused(tmp_path: Path) -> None:
    sides = [Side("a b", controller="cubic"), Side("a:b", controller="bbr")]
    with pytest.raises(RequestError, match="'a b' and 'a:b' would have the same folders; accepted: names that"):
        Plan([], sides, DEFAULTS, out=tmp_path)
    with pytest.raises(RequestError, match="'kernel-cubic' and 'kernel:cubic' would have the same folders"):
        Plan([], [Side("kernel-cubic", controller="cubic")], DEFAULTS, out=tmp_path)
    Plan([], sides, DEFAULTS)
    Plan([], [side_of("kernel:cubic"), side_of("cubic")], DEFAULTS, out=tmp_path)


def effect(metric: str, a: list[float], b: list[float], is_ratio: bool = True) -> Pairs:
    found = Pairs("one", "main", MEASURES[metric], DEFAULTS[metric], is_ratio)
    for seed, (one, other) in enumerate(zip(a, b, strict=True)):
        found.add(seed, one, other)
    return found


def test_a_side_is_worse_when_the_whole_interval_is_beyond_the_threshold() -> None:
    base = [100.0 + number for number in range(12)]
    for factor, rate, completion in (
        (0.95, "worse", "better"),
        (1.05, "better", "worse"),
        (1.0, "alike", "alike"),
        (0.991, "alike", "alike"),  # of 1 %
    ):
        other = [factor * value for value in base]
        assert effect("rate", base, other).answer == rate
        assert effect("completion", base, other).answer == completion
    # Seven pairs have no interval, however far apart they are.
    assert effect("rate", base[:7], [1.0] * 7).answer == "undecided"
    # Loss counts from 0.1 of 100 packets on, where there was none.
    assert effect("loss", [0.0] * 9, [0.002] * 9, is_ratio=False).answer == "worse"
    assert effect("loss", [0.0] * 9, [0.0005] * 9, is_ratio=False).answer == "alike"


def test_a_side_that_does_not_finish_is_worse_and_two_are_alike() -> None:
    never = [math.inf] * 9
    assert effect("completion", [5.0] * 9, never).answer == "worse"
    assert effect("completion", never, [5.0] * 9).answer == "better"
    assert effect("completion", never, never).answer == "alike"


def test_sides_of_which_nothing_is_known_are_not_alike() -> None:
    # A wait that was never measured: any difference would be within a share of it.
    unknown = [math.inf] * 9
    assert effect("queue-delay", unknown, [0.01] * 9, is_ratio=False).answer == "better"
    assert effect("queue-delay", [*unknown[:5], *[0.01] * 4], [0.02] * 9, is_ratio=False).answer != "alike"
    assert effect("queue-delay", [], [], is_ratio=False).answer == "undecided"


def test_an_interval_may_be_looked_at_after_every_round() -> None:
    # 400 benches that look at each of 40 rounds: at most 5 % may ever have left out the median, 0. The bound is
    # that and three standard deviations of as many draws: 20 + 3 * 4.36 = 33.
    draws = random.Random(36)
    missed = 0
    for _ in range(400):
        values: list[float] = []
        ever = False
        for _ in range(40):
            values.append(draws.gauss(0, 1))
            interval = median_interval(values)
            ever = ever or not interval.low <= 0 <= interval.high
        missed += ever
    assert missed <= 33
    # And it narrows: after 40 rounds a fifth of the values or more is outside on each side.
    interval = median_interval(sorted(range(40)))
    assert 7 <= interval.low < interval.high <= 32
