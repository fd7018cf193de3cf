"""What holds for each library of examples/stacks; what is special to one is in the file of its name.

The controller `bbr` of quinn is left out: it draws from the system, so its trials need not repeat.
"""

from __future__ import annotations

import math
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import thalweg
from stacks.built import built, played_by

pytestmark = pytest.mark.soak


@dataclass(frozen=True)
class Stack:
    """A library, how much it is given to do, and what its flows keep to."""

    name: str
    controllers: tuple[str, ...]
    """The first is that of tests that need no more than one."""
    without_control: tuple[str, ...] = ()
    """Controllers that bound nothing."""

    # Its tasks: a stack that is slow has small ones.
    loss: str = "0.1 %"
    loss_of_tasks: str = "0.1 %"
    shipped: str | None = None
    """A shipped scenario, played in place of downloads that are repeated or bounded."""
    repeated: str = "2 MB"
    trials: int = 4
    shifted: str = "1 MB"
    task: int = 1_000_000

    # Its bounds. 2 MB at 20 Mbps take 0.8 s; five times as long is a sender that waits for timers.
    size: int = 2_000_000
    completion_s: tuple[float, float] = (0.8, 4.0)
    min_rtt_s: tuple[float, float] = (0.040, 0.045)
    most_dropped: float = 0.1
    # RFC 9000 section 14.1: a datagram with a client's Initial packet has at least 1200 bytes.
    first_datagram: int = 1200

    # What it does not do.
    has_streams: bool = True
    tells_its_rtt: bool = True
    tells_its_state: bool = True
    repeats_contents: bool = True

    def flow(self, work: str, controller: str | None = None, loss: str | None = None) -> thalweg.Scenario:
        return played_by(built(self.name), controller or self.controllers[0], work, loss or self.loss)

    def download(self, size: str, controller: str | None = None) -> thalweg.Scenario:
        if self.shipped is None:
            return self.flow(f'download = "{size}"', controller)
        controllers = {"main": controller or self.controllers[0]}
        return thalweg.Scenario.load(self.shipped, controllers=controllers, stack=built(self.name))


STACKS = [
    Stack(
        "quinn",
        ("cubic", "new-reno"),
        shipped="c4/simple-20mbps",
        loss="0 %",
        loss_of_tasks="1 %",
        shifted="2 MB",
        # 10 MB at 20 Mbps take 4 s at least, and half as much again at most for a sender that loses a slow start.
        size=10_000_000,
        completion_s=(4.0, 6.0),
        # The path of 80 ms cannot be faster.
        min_rtt_s=(0.080, 0.085),
        tells_its_state=False,
        repeats_contents=False,
    ),
    # BBR of the first version overfills a buffer without a bound: of its packets, 28 % are dropped.
    Stack("ngtcp2", ("cubic", "reno", "bbr", "bbr2"), most_dropped=0.35, repeats_contents=False),
    # In smoltcp 0.12 the window bounded the next segment alone: all three controllers had the same trial, and lost
    # nine of ten packets here.
    Stack(
        "smoltcp",
        ("reno", "cubic"),
        without_control=("none",),
        loss="0 %",
        loss_of_tasks="0 %",
        first_datagram=32,  # a SYN of TCP
        has_streams=False,
        tells_its_rtt=False,
        tells_its_state=False,
    ),
    # In a process without Python too, such as the one of the first datagram, random numbers and keys of TLS come
    # from the seed.
    Stack(
        "aioquic",
        ("cubic", "reno"),
        repeated="1 MB",
        trials=3,
        shifted="500 kB",
        task=500_000,
        first_datagram=1400,
    ),
    Stack("quiche", ("cubic", "reno", "bbr2"), tells_its_state=False),
]

each_stack = pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
each_controller = pytest.mark.parametrize(
    ("stack", "controller"),
    [
        pytest.param(stack, controller, id=f"{stack.name}-{controller}")
        for stack in STACKS
        for controller in stack.controllers
    ],
)


@each_controller
def test_the_same_seed_has_the_same_trial_in_any_process(stack: Stack, controller: str) -> None:
    download = stack.download(stack.repeated, controller)
    one, two = (list(download.trials(stack.trials, seed=11, jobs=jobs).trials["trace_hash"]) for jobs in (1, 2))
    assert one == two
    assert len(set(one)) == stack.trials
    assert download.run(12, trace=True).trace_hash == download.run(12, audit=True).trace_hash == one[1]


@each_stack
def test_the_auditor_finds_nothing(stack: Stack) -> None:
    download = stack.download(stack.repeated)
    assert download.run(1, audit=True).trace_hash == download.run(1).trace_hash


@each_stack
def test_the_first_datagram_repeats_its_contents_too_where_keys_come_from_the_seed(
    stack: Stack, first_datagram: Path
) -> None:
    command = [first_datagram, built(stack.name)]
    one, two = (subprocess.run(command, capture_output=True, check=False) for _ in range(2))
    assert len(one.stdout) == len(two.stdout) == stack.first_datagram, one.stderr
    assert (one.stdout == two.stdout) == stack.repeats_contents


@each_stack
def test_its_controllers_differ_and_keep_their_floor(stack: Stack) -> None:
    all_controllers = (*stack.controllers, *stack.without_control)
    trials = {name: stack.download(f"{stack.size} B", name).run(1) for name in all_controllers}
    assert len({trial.trace_hash for trial in trials.values()}) == len(all_controllers)
    for controller in stack.controllers:
        flow = trials[controller].flows.row(0, named=True)
        assert flow["bytes_delivered"] == stack.size
        assert stack.completion_s[0] < flow["completion_s"] < stack.completion_s[1]
        if stack.tells_its_rtt:
            assert stack.min_rtt_s[0] <= flow["min_rtt_s"] < stack.min_rtt_s[1]
        assert flow["packets_dropped"] < flow["packets_sent"] * stack.most_dropped


@each_controller
def test_a_shift_in_time_shifts_everything(stack: Stack, controller: str) -> None:
    first, later = (
        stack.flow(f'download = "{stack.shifted}"\nstart = "{start}"', controller).run(1).flows["completion_s"][0]
        for start in ("0 s", "700 ms")
    )
    assert later - first == pytest.approx(0.7, abs=1e-9)


@each_stack
def test_uploads_streams_and_requests_are_carried(stack: Stack) -> None:
    works = [f'upload = "{stack.task} B"']
    if stack.has_streams:
        works = [
            f'upload = "{stack.task} B"\nstreams = 3',
            f'download = "{stack.task} B"\nstreams = 7',
            f'download = "{stack.task} B"\nchunk = "100 kB"',
        ]
    for work in works:
        trial = stack.flow(work, loss=stack.loss_of_tasks).run(3)
        assert trial.flows["bytes_delivered"][0] == stack.task, work
    requests = 'requests = { count = 20, mean_gap = "50 ms", least = "3 kB", most = "50 kB" }'
    trials = stack.flow(requests, loss=stack.loss_of_tasks).trials(2)
    assert trials.flows["completion_s"].null_count() == 0


@each_stack
def test_the_trace_shows_the_window_and_where_the_library_tells_them_the_flight_and_the_state(
    stack: Stack,
) -> None:
    trace = stack.download(stack.repeated).run(1, trace=True).trace
    assert trace is not None
    states = set(trace.flows["state"])
    in_flight, window = (float(trace.flows[name].to_numpy().max()) for name in ("in_flight_bytes", "window_bytes"))
    if stack.tells_its_state:
        assert {"slow_start", "congestion_avoidance"} <= states
        assert 0 < in_flight <= 1.1 * window
    else:
        assert states == {""}
        assert math.isnan(in_flight)  # absent, not 0
        assert window > 0
