"""The native module: scenario files, trials and traces. Everything else is Python.

Columns are plain: a mapping from column name to a numpy array (float64, int64, bool; seeds uint64) or to a list of
texts, or places in a list of words with that list; all of one length. Times are seconds, sizes bytes, rates bits per second.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = tuple[npt.NDArray[np.uint32], list[str]]
"""Places in a list of words, and the list."""
Column: TypeAlias = npt.NDArray[Any] | list[str] | Words
Columns: TypeAlias = dict[str, Column]

class ScenarioError(ValueError):
    """A scenario is refused. The message names file, line, key, value and the accepted forms."""

class Cancelled(Exception):
    """Trials were interrupted (Ctrl-C)."""

class AuditError(Exception):
    """The auditor has found that a trial contradicts physics. The message has seed, time and element."""

def version() -> str:
    """Version of the simulator."""

def controllers() -> list[dict[str, Any]]:
    """Registry of controllers: name, title, source, options (name, accepted, default, meaning)."""

def models() -> list[dict[str, str]]:
    """Models of the path: kind ("queue", "jitter", "loss"), name, title, source."""

def metrics() -> list[dict[str, str]]:
    """Metrics that a criterion can bound: name, unit, of ("flow" or "stream"), meaning."""

def scenario_schema() -> str:
    """JSON schema of a scenario file."""

def serve_live(request: int, answer: int) -> None:
    """Carries out one request in real time, read from one descriptor and answered on another.

    For a process that was started for this, has one thread, and ends afterwards. Raises OSError.
    """

class QuicRefused(Exception):
    """A connection over sockets cannot be made as requested."""

class QuicFailed(Exception):
    """A connection over sockets broke before it was done."""

def make_quic_identity() -> tuple[bytes, bytes]:
    """A new certificate and its key, both in DER. Raises QuicRefused."""

def quic_fingerprint(certificate: bytes, key: bytes) -> str:
    """The fingerprint of a certificate whose key this is. Raises QuicRefused."""

def quic_get(
    host: str,
    port: int,
    fingerprint: str,
    kind: str,
    amount: float,
    controller_name: str,
    server_controller: str | None,
    patience_s: float,
    idle_s: float,
    trace: bool,
    on_progress: Callable[[int], None] | None,
) -> tuple[str, Trace | None]:
    """Makes a request ("download", "upload" of bytes, "call" of seconds) and moves its data.

    Returns the summary as JSON. Raises QuicRefused, QuicFailed, and KeyboardInterrupt after Ctrl-C.
    """

class QuicServer:
    """A server that listens."""

    def __init__(
        self,
        address: str,
        port: int,
        certificate: bytes,
        key: bytes,
        controller_name: str,
        clients_choose: bool,
        connections: int,
        half_open: int,
        idle_s: float,
        trace: bool,
    ) -> None:
        """Listens. Raises QuicRefused."""

    @property
    def address(self) -> tuple[str, int]: ...
    @property
    def fingerprint(self) -> str: ...
    def stop(self) -> None:
        """Ends `serve`, from another thread."""

    def serve(
        self, duration_s: float | None, once: bool, on_served: Callable[[str, Trace | None], None]
    ) -> tuple[dict[str, int], bool]:
        """Serves; tells of every connection (JSON). Returns counts, and whether Ctrl-C ended it."""

class Scenario:
    """One scenario, checked."""

    @staticmethod
    def from_toml(
        text: bytes,
        file: str,
        overrides: Sequence[tuple[str, str]] = ...,
        controllers: Sequence[tuple[str, str]] = ...,
    ) -> Scenario:
        """Reads a scenario. `file` is the name that errors use.

        `overrides` are `--set` pairs such as ("path.rate", "10 Mbps"); `controllers` are pairs
        (flow name, controller). Raises ScenarioError.
        """

    @staticmethod
    def live_from_toml(
        text: bytes,
        file: str,
        overrides: Sequence[tuple[str, str]] = ...,
        controllers: Sequence[tuple[str, str]] = ...,
    ) -> Scenario:
        """Reads a scenario that runs in real time only: the kernel's TCP carries flows with controllers such as
        "kernel:cubic", the QUIC stack all others."""

    @staticmethod
    def path_from_toml(text: bytes, file: str, overrides: Sequence[tuple[str, str]] = ...) -> Scenario:
        """Reads a scenario of which the path counts and not the flows, whoever is to carry them."""

    @property
    def title(self) -> str: ...
    @property
    def source(self) -> str | None: ...
    @property
    def note(self) -> str | None: ...
    @property
    def toml(self) -> str:
        """The scenario as it runs, overrides included; from_toml reads it back."""

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Per flow: name, controller, workload (text), start_s, awaited (whether the trial ends only with it)."""

    @property
    def criteria(self) -> list[dict[str, Any]]:
        """Per criterion: flow, metric, stream (of media, where the metric is of one; else None), column (of the outcomes of flows that holds the metric, such as
        "completion_s"), unit, at_most (float), floor (float or None), source, informative (bool).

        `floor` is the least value of this metric that physics allows on this path; a criterion whose
        at_most lies under it is infeasible. An informative criterion is shown without deciding the verdict.
        """

    @property
    def floor_s(self) -> float | None:
        """Floor of the completion of the first flow, in seconds; None without a bounded workload."""

    @property
    def time_limit_s(self) -> float:
        """Simulated time at which a trial ends whatever has finished, in seconds."""

    def run(self, seed: int, trace: bool = False, audit: bool = False) -> Trial:
        """One trial with one seed. Raises Cancelled within a second after Ctrl-C, and AuditError if the auditor
        watches it and finds something."""

    def measured(self, text: str, core_s: float) -> Trial:
        """A trial in real time, as the process that measured it tells (JSON). `core_s` is the processor time that it
        took. Raises ValueError."""

    def trials(
        self,
        seeds: Sequence[int],
        jobs: int = 0,
        on_progress: Callable[[int], None] | None = None,
        audit: bool = False,
    ) -> Outcomes:
        """One trial for each seed on `jobs` threads (0: all cores); the GIL is released.

        `on_progress` gets the number of finished trials about ten times a second. Raises Cancelled
        within a second after Ctrl-C, with the finished trials in its `outcomes` attribute, AuditError if the
        auditor watches them and finds something, and RuntimeError if the simulator panics, which is a defect.
        """

    def probe(self, seed: int, interval_ns: int, count: int, payload: int) -> dict[str, npt.NDArray[np.int64]]:
        """What `count` probes with `payload` bytes measure that go through the otherwise idle path of the first
        flow to an echo server: sent_ns, echoed_ns and received_ns, -1 for what was lost before."""

class Outcomes:
    """Outcomes of a number of trials, as columns."""

    @property
    def flows(self) -> Columns:
        """One row for each trial and flow, trial by trial.

        trial (index), seed (uint64), flow, controller, finished (bool), completion_s, closed_s (nan when
        unfinished), start_s, bytes_delivered, mean_rate_bps, packets_sent, packets_lost, packets_dropped,
        packets_lost_at_random, packets_marked, spurious_losses, timeouts, mean_rtt_s, min_rtt_s, max_rtt_s,
        mean_queue_delay_s, mean_jitter_s, then shared_bytes, shared_rate_bps and share (0 to 1; all
        three while all flows were active), and for each stream of media <stream>_frames, <stream>_mean_delay_s and the like. Further
        columns may come; readers must not rely on the exact set.
        """

    @property
    def links(self) -> Columns:
        """One row for each trial and link: trial, seed, link, delivered_packets, delivered_bytes,
        dropped_packets, lost_packets, marked_packets, utilisation (0 to 1), mean_queue_delay_s,
        max_queue_packets, requested_jitter_s, drawn_jitter_s, experienced_jitter_s, requested_loss,
        realised_loss (0 to 1)."""

    @property
    def requests(self) -> Columns:
        """One row for each trial, flow of requests and request: trial, seed, flow, request (number), start_s,
        bytes, completion_s (nan when unfinished), packets_sent, packets_lost, mean_rtt_s."""

    def series(
        self, trial: int, flow: int
    ) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        """Length of a bin in seconds, and the bytes that a flow (by number) sent and received in each bin;
        None if the scenario has no `sample`, or there is no such trial or flow."""

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        """Bytes that a link (by number) could have transmitted in each bin; None as for `series`."""

    @property
    def trials(self) -> Columns:
        """One row for each trial: trial, seed, end_s (simulated), events, packets, core_s
        (processor time; the only column that another run does not reproduce), trace_hash (16 hex digits)."""

class Trial:
    """One trial: its outcomes (of one trial) and its trace, if it was asked for."""

    @property
    def outcomes(self) -> Outcomes: ...
    @property
    def trace(self) -> Trace | None: ...

class Trace:
    """Time series of one trial."""

    @property
    def flows(self) -> Columns:
        """Samples of data senders: time_s, flow (name), event ("received", "sent", "timer"), window_bytes,
        in_flight_bytes, smoothed_rtt_s, latest_rtt_s, pacing_bps, delivery_bps, delivered_bytes, state."""

    @property
    def variables(self) -> Columns:
        """Controller variables, long form: time_s, flow, variable, value."""

    @property
    def links(self) -> Columns:
        """Samples of each link on change: time_s, link, capacity_bps, queue_bytes, queue_packets,
        queue_delay_s, delivered_bytes (cumulative), dropped_packets (cumulative), marked_packets."""

    @property
    def drops(self) -> Columns:
        """One row for each drop: time_s, link, flow, reason: "queue" (full), "aqm", "shrunk"
        (waiting when the queue became smaller) or "loss" (at random)."""

    @property
    def packets(self) -> Columns:
        """What became of the packets of data senders: time_s, flow, event ("sent", "acknowledged", "lost"),
        first_packet, last_packet (the same but for runs that were acknowledged together), size_bytes."""
