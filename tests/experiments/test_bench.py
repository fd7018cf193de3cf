"""What a bench is asked, and what pairs of trials say: without real time."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.experiments.bench import Effect, side_of
from thalweg.experiments.bench.stack_file import Room, StackFile
from thalweg.judging.measures import MEASURES
from thalweg.judging.statistics.sequential import median_interval
from thalweg.judging.thresholds import DEFAULTS


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
        ('name = "a"\nclient = "a\\u0000"', "client: 'a\\x00' cannot be used"),
        (
            'name = "a"\nclient = "get {ulr}"',
            "client: unknown word {ulr}; accepted: {address}, {port}, {url}",
        ),
        (
            'name = "a"\nclient = "a"\nclinet = "b"',
            "unknown key 'clinet'; did you mean client?; accepted: name,",
        ),
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
    assert table["server"] == f"cd {tmp_path} && serve '{room.www}' $THALWEG_ADDRESS:4433"
    url = "https://$THALWEG_PEER:4433/5000"
    assert table["client"].endswith(f"get {url} >'{room.downloads}'/5000 ${{x}} | awk '{{print}}' 5000")


def test_an_endpoint_after_the_contract_of_the_interop_runner_gets_its_variables(tmp_path: Path) -> None:
    text = 'name = "a"\ncontract = "interop"\nserver = "./run.sh"\nclient = "./run.sh"\ntestcase = "http3"\n'
    table = StackFile.read(written(tmp_path, text)).command(Room(tmp_path), 5000)
    assert table["ready"] == "udp:443"
    for end in ("client", "server"):
        for variable in (f"ROLE={end}", "TESTCASE=http3", f"QLOGDIR={tmp_path}/qlog", f"CERTS={tmp_path}/certs"):
            assert f"export {variable} " in f"{table[end]} "
    assert "export REQUESTS=https://$THALWEG_PEER:443/5000 " in table["client"]
    assert "REQUESTS" not in table["server"]


def test_two_sides_of_one_name_are_told_apart(tmp_path: Path) -> None:
    assert side_of("kernel:cubic", ["kernel:cubic"]).name == "kernel:cubic 2"
    file = written(tmp_path, 'name = "a"\nclient = "b"\n')
    assert side_of(str(file), ["a", "a 2"]).name == "a 3"


def effect(metric: str, a: list[float], b: list[float], is_ratio: bool = True) -> Effect:
    found = Effect("one", MEASURES[metric], DEFAULTS[metric], is_ratio, "main")
    for one, other in zip(a, b, strict=True):
        found.add(one, other)
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
    assert effect("rate", base[:7], [1.0] * 7).answer == "not told apart"
    # Loss counts from 0.1 of 100 packets on, where there was none.
    assert effect("loss", [0.0] * 9, [0.002] * 9, is_ratio=False).answer == "worse"
    assert effect("loss", [0.0] * 9, [0.0005] * 9, is_ratio=False).answer == "alike"


def test_a_side_that_does_not_finish_is_worse_and_two_are_alike() -> None:
    never = [math.inf] * 9
    assert effect("completion", [5.0] * 9, never).answer == "worse"
    assert effect("completion", never, [5.0] * 9).answer == "better"
    assert effect("completion", never, never).answer == "alike"


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
