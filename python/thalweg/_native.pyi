"""The native module: scenario files, trials and traces. Everything else is Python.

Columns are plain: a mapping from column name to a numpy array (float64, int64, bool; seeds uint64) or to a list of
texts, or places in a list of words with that list; all of one length. Times are seconds, sizes bytes, rates bits per second.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from thalweg.engine.outcome import FlowDescription
from thalweg.engine.scenario import ProbeTimes

Words: TypeAlias = tuple[npt.NDArray[np.uint32], list[str]]
"""Places in a list of words, and the list."""
Column: TypeAlias = npt.NDArray[Any] | list[str] | Words
Columns: TypeAlias = dict[str, Column]
Resolve: TypeAlias = Callable[[str], object]
"""Finds the `thalweg.engine.controllers.definition.Definition` that a text names; None for a text that names none in Python."""

class ScenarioError(ValueError):
    """An invalid scenario. The message names file, line, key, value and the accepted forms."""

    origin: str
    """The file of the line, or the option, as the message names it. Reading a scenario sets these three."""
    line: int | None
    key: str | None

class Cancelled(Exception):
    """Trials were interrupted (Ctrl-C)."""

class Panicked(RuntimeError):
    """The simulator has panicked, which is a defect of it."""

class AuditError(Exception):
    """The auditor has found that a trial contradicts physics. The message has seed, time and element."""

def version() -> str:
    """Version of the simulator."""

def engine() -> str:
    """Version of the simulator, a plus sign, and a hash of the sources that its trials depend on."""

def controllers() -> list[dict[str, Any]]:
    """Registry of controllers: name, purpose, title, source, options (name, accepted, default, meaning)."""

def normal_controller(text: str) -> str:
    """The shortest text for the same controller with the same options; the text if it names none of Thalweg."""

def runs_in_browser(controller: str) -> bool:
    """Whether the engine in WebAssembly has this controller."""

def qlog_of(trace: str, vantage: str, sequence: bool) -> str:
    """A trace, its tables in JSON, as qlog: of the current drafts if `sequence`, else in the older form that qvis
    reads. Raises ValueError if the text is not a trace."""

def replay(
    controller: str,
    kinds: npt.NDArray[np.uint8],
    times_s: npt.NDArray[np.float64],
    numbers: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    start: tuple[int, int | None, float | None],
) -> Columns:
    """What a controller would have allowed a sender: window_bytes, pacing_bps (NaN for none) and in_flight_bytes after
    each packet that was sent. Kinds: 0 sent, 1 acknowledged, 2 lost, 3 lost wrongly, 4 so many marks, 5 the end of the
    acknowledgements of a frame, 6 nothing to send. Packets have numbers in the order in which they were sent.
    `start`: the size of full packets and, if known, the initial window and the round trip of the handshake."""

def models() -> list[dict[str, str]]:
    """Models of the path: kind ("queue", "jitter", "loss"), name, title, source."""

def metrics() -> list[dict[str, Any]]:
    """Metrics that a criterion can bound: name, unit, of ("flow", "stream" or "controller"), column, better ("lower",
    "higher" or None), compares (workloads), virtual_only, from_start, until_the_end, meaning, by (what limits a
    sender: name, column and meaning of each; empty but for "limited").
    """

def phases() -> list[tuple[str, str]]:
    """Phases of Reno, CUBIC, Prague and their slow starts, as traces name them: name, part ("start", "reduction", "avoidance")."""

def scenario_schema() -> str:
    """JSON schema of a scenario file."""

def toml_document(text: bytes, file: str) -> dict[str, Any]:
    """The table of a TOML text, as the engine reads scenarios: TOML 1.1, integers of 64 bits, no dates. Raises ScenarioError."""

def visible(text: str) -> str:
    """A text in one line, with escapes for what a terminal or a page would obey."""

def visible_lines(text: str) -> str:
    """The same for a text of several lines, which may have tabs."""

def regularized_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the regularized incomplete beta function. Raises ValueError."""

def inverse_regularized_beta(a: float, b: float, probability: float) -> float:
    """The x at which I_x(a, b) is a probability. Raises ValueError."""

def serve_live(
    request: int, answer: int, resolve: Resolve, explain: Callable[[ControllerFailed], str]
) -> None:
    """Carries out one request in real time, read from one descriptor and answered on another.

    `explain` puts in words how a controller in Python has failed.

    For a process that was started for this, has one thread, and ends afterwards. Raises OSError.
    """

STACK_CALLS: list[str]
"""Names of the functions of a library, by the numbers that a record of the present call has."""
PRESENT_CALL_SIZE: int
"""Bytes of such a record."""

TAPE_BLOCK_S: float
"""The length of a block of a tape (`noise.tape`)."""

class StackFailed(Exception):
    """The library of a stack has done what its interface forbids. Arguments: what, and the seed of the trial."""

def names_library(stack: str) -> bool:
    """Whether a value of the key `stack` is meant to be the file of a library."""

def inspect_library(path: str) -> tuple[str, str, list[str], int]:
    """Loads a library into this process: its name, version, controllers, most streams. Raises ScenarioError."""

def play_libraries_here() -> None:
    """From now on libraries run in this process."""

def share_present_call(buffer: Any) -> None:
    """Notes which function of a library is being called in a buffer that stays. Raises ValueError."""

class ControllerFailed(Exception):
    """A controller in Python has raised something, its cause. Arguments: controller, method, flow, seed (None outside
    of trials), time in seconds."""

class Init:
    """What a controller gets when it is created."""

    @property
    def now(self) -> float:
        """Current time in seconds."""

    @property
    def mtu(self) -> int:
        """Size of a full packet in bytes (UDP payload)."""

    @property
    def initial_window(self) -> int:
        """Initial congestion window of the transport in bytes (RFC 9002 section 7.2)."""

class FakeTransport:
    """A flow of full packets whose events you make up, and one of our controllers.

    Its packets are of `mtu` bytes; it starts at `now` with its handshake done. Nothing is paced, and nothing is lost
    or acknowledged but by a call. Raises ValueError for a controller that does not exist, and for what cannot happen.
    """

    def __new__(
        cls, controller: str, *, mtu: int = 1200, initial_window: int | None = None, now: float = 0.0
    ) -> FakeTransport: ...
    @property
    def now(self) -> float:
        """The time in seconds."""

    def advance(self, span: float) -> None:
        """Lets so many seconds pass."""

    def handshake(self, rtt: float) -> None:
        """The handshake has taken so many seconds: the first RTT sample."""

    def send(self, count: int = 1) -> list[int]:
        """Sends so many full packets now, whatever the window; their numbers."""

    def fill_window(self) -> list[int]:
        """Sends packets until the window is full; their numbers."""

    def ack(self, packets: Sequence[int], *, marked: int = 0, delivery_rate: float | None = None) -> None:
        """One ACK frame acknowledges packets now, `marked` of them with CE; the RTT is the newest packet's.

        `delivery_rate`, in bits per second, is the sample of the ACK: the flow measures none by itself.
        """

    def lose(self, packet: int, *, persistent_congestion: bool = False) -> None:
        """A packet is declared lost."""

    def spurious(self, packet: int) -> None:
        """A packet that was declared lost, or that a timeout fired for, arrives after all."""

    def timeout(self, count: int = 1) -> None:
        """A probe timeout fires for the oldest packet in flight: the `count`-th in a row."""

    def idle_restart(self) -> None:
        """Data is about to leave after an idle period."""

    @property
    def app_limited(self) -> bool:
        """Whether packets leave without enough data to fill the window."""

    @app_limited.setter
    def app_limited(self, app_limited: bool) -> None: ...
    @property
    def in_flight(self) -> list[int]:
        """The packets in flight, oldest first."""

    @property
    def bytes_in_flight(self) -> int:
        """Their bytes."""

    @property
    def smoothed_rtt(self) -> float:
        """The smoothed RTT in seconds."""

    @property
    def window(self) -> int:
        """The congestion window in bytes."""

    @property
    def pacing(self) -> float | None:
        """The pacing rate in bits per second; None leaves it to the transport."""

    @property
    def quantum(self) -> int:
        """The most bytes in one burst."""

    @property
    def startup_done(self) -> bool:
        """Whether the start-up phase is over."""

    @property
    def ecn(self) -> Literal["ect0", "ect1", "none"]:
        """What packets carry."""

    @property
    def state(self) -> str:
        """The state that traces show."""

    @property
    def variables(self) -> dict[str, float]:
        """The variables that traces show, by name."""

class Path:
    """What the transport has measured, the present event included. An object that is kept says how it was then."""

    @property
    def now(self) -> float:
        """Current time in seconds since the trial began."""

    @property
    def mtu(self) -> int:
        """Size of a full packet in bytes (UDP payload)."""

    @property
    def smoothed_rtt(self) -> float:
        """Smoothed RTT in seconds (RFC 9002 section 5.3); the initial RTT before the first sample."""

    @property
    def rtt_var(self) -> float:
        """RTT variation in seconds (RFC 9002 section 5.3)."""

    @property
    def min_rtt(self) -> float:
        """Smallest RTT sample in seconds (RFC 9002 section 5.2); 0 before the first."""

    @property
    def latest_rtt(self) -> float:
        """Latest RTT sample in seconds (RFC 9002 section 5.1); 0 before the first."""

    @property
    def bytes_in_flight(self) -> int:
        """Ack-eliciting bytes that are neither acknowledged nor declared lost."""

    @property
    def delivered(self) -> int:
        """Bytes acknowledged so far."""

    @property
    def lost(self) -> int:
        """Bytes declared lost so far, less those that proved spurious."""

    @property
    def delivery_rate(self) -> float:
        """Latest complete sample of the delivery rate in bits per second; 0 before the first."""

    @property
    def peak_rate(self) -> float:
        """Largest rate in bits per second that two acknowledgements at least 1 ms apart have shown."""

    @property
    def next_packet(self) -> int:
        """Packet number that the next packet will have."""

    @property
    def largest_acked(self) -> int | None:
        """Largest acknowledged packet number."""

    @property
    def lowest_unacked(self) -> int:
        """Oldest packet neither acknowledged nor declared lost; without one, next_packet."""

    @property
    def ecn(self) -> EcnCounts:
        """ECN counts of the peer, as of the latest ACK frame."""

    @property
    def established(self) -> bool:
        """Whether the handshake is complete."""

    @property
    def window_limited(self) -> bool:
        """Whether the last attempt to send was stopped by the congestion window."""

    @property
    def app_limited(self) -> bool:
        """Whether samples are currently marked as application-limited."""

    @property
    def last_idle(self) -> float:
        """The last time in seconds at which the sender had nothing to send although it could have sent."""

    @property
    def newest_acked_data_sent(self) -> float:
        """Send time in seconds of the newest acknowledged packet that carried data."""

    def random(self) -> float:
        """A real number from 0 up to, not including, 1; the seed of the trial determines it."""

class Snapshot:
    """What the transport remembered of a packet when it left, and how it compares now."""

    @property
    def sent(self) -> float:
        """When the packet left, in seconds."""

    @property
    def in_flight_at_send(self) -> int:
        """Bytes in flight right after it left, the packet included."""

    @property
    def delivered_at_send(self) -> int:
        """Total bytes delivered when it left."""

    @property
    def lost_at_send(self) -> int:
        """Total bytes lost when it left."""

    @property
    def delivered_since_sent(self) -> int:
        """Bytes delivered since the packet left; an acknowledged packet counts itself."""

    @property
    def lost_since_sent(self) -> int:
        """Bytes declared lost since the packet left; a lost packet counts itself."""

    @property
    def app_limited(self) -> bool:
        """Whether the sender was application-limited when it left."""

    @property
    def window_limited(self) -> bool:
        """Whether the sender was limited by the congestion window when it left."""

class RateSample:
    """A delivery-rate sample of one ACK."""

    @property
    def delivered(self) -> int:
        """Bytes delivered over the interval."""

    @property
    def interval(self) -> float:
        """The longer of the send interval and the ACK interval, in seconds."""

    @property
    def rate(self) -> float:
        """delivered / interval, in bits per second."""

    @property
    def app_limited(self) -> bool:
        """Whether the newest packet of the sample left while the sender was application-limited."""

class Ack:
    """One ACK frame newly acknowledged one or more packets."""

    @property
    def largest(self) -> int:
        """Largest packet number that this ACK newly acknowledges."""

    @property
    def newly_acked(self) -> int:
        """Bytes newly acknowledged, packets that were wrongly declared lost included."""

    @property
    def newly_acked_packets(self) -> int:
        """Number of packets newly acknowledged."""

    @property
    def newly_lost(self) -> int:
        """Bytes declared lost since the last ACK was reported, by the timer too."""

    @property
    def lost_ranges(self) -> int:
        """Number of separate runs of packet numbers among them."""

    @property
    def rtt(self) -> float | None:
        """RTT sample of this ACK in seconds, if it gave one."""

    @property
    def snapshot(self) -> Snapshot:
        """Memory of the largest newly acknowledged packet."""

    @property
    def rate(self) -> RateSample | None:
        """Delivery-rate sample, unless the interval was shorter than the minimum RTT."""

    @property
    def prior_in_flight(self) -> int:
        """Bytes in flight before this ACK was processed."""

    def window_was_underused(self, path: Path) -> bool:
        """Whether the sender lacked data to fill its window, so that this ACK says nothing about a larger one (RFC 9002
        section 7.8)."""

class Lost:
    """One packet was declared lost."""

    @property
    def packet(self) -> int:
        """Its packet number."""

    @property
    def size(self) -> int:
        """Its size in bytes (UDP payload)."""

    @property
    def snapshot(self) -> Snapshot:
        """Memory of the packet."""

    @property
    def persistent_congestion(self) -> bool:
        """Whether this loss completes a period of persistent congestion (RFC 9002 section 7.6)."""

class Sent:
    """A packet left."""

    @property
    def packet(self) -> int:
        """Its packet number."""

    @property
    def size(self) -> int:
        """Its size in bytes (UDP payload)."""

    @property
    def prior_in_flight(self) -> int:
        """Bytes in flight just before it left."""

    @property
    def was_idle(self) -> bool:
        """Whether the sender had nothing in flight."""

class Timeout:
    """A probe timeout fired (RFC 9002 section 6.2)."""

    @property
    def count(self) -> int:
        """Consecutive timeouts, this one included: 1 at the first."""

    @property
    def packet(self) -> int:
        """Oldest packet outstanding."""

    @property
    def snapshot(self) -> Snapshot:
        """Memory of that packet."""

class SpuriousLoss:
    """A packet that was declared lost, or for which a probe timeout fired, arrived after all."""

    @property
    def packet(self) -> int:
        """Its packet number."""

    @property
    def size(self) -> int:
        """Its size in bytes (UDP payload)."""

    @property
    def sent(self) -> float:
        """When it left, in seconds."""

    @property
    def timeout_only(self) -> bool:
        """Whether it was only timed out (the packet was never declared lost)."""

class EcnCounts:
    """ECN counters of the peer, cumulative (RFC 9000 section 13.4)."""

    @property
    def ect0(self) -> int:
        """Packets received with ECT(0)."""

    @property
    def ect1(self) -> int:
        """Packets received with ECT(1)."""

    @property
    def ce(self) -> int:
        """Packets received with CE."""

    @property
    def largest_acked(self) -> int:
        """Largest packet number acknowledged by the ACK that brought the counts."""

    @property
    def total(self) -> int:
        """Packets counted in all."""

class RttSample:
    """A new round-trip time sample."""

    @property
    def rtt(self) -> float:
        """The sample in seconds, less the acknowledgement delay where RFC 9002 section 5.3 allows it."""

    @property
    def raw(self) -> float:
        """The sample in seconds as it was measured."""

class Report:
    """What happened since the last report."""

    @property
    def elapsed(self) -> float:
        """Seconds since then."""

    @property
    def delivered(self) -> int:
        """Bytes newly acknowledged."""

    @property
    def sent(self) -> int:
        """Bytes that left."""

    @property
    def lost(self) -> int:
        """Bytes declared lost."""

    @property
    def marked(self) -> int:
        """CE marks reported."""

    @property
    def timeouts(self) -> int:
        """Probe timeouts."""

    @property
    def min_rtt(self) -> float | None:
        """Smallest RTT sample in seconds; None without samples."""

    @property
    def mean_rtt(self) -> float | None:
        """Mean of the RTT samples in seconds."""

    @property
    def max_rtt(self) -> float | None:
        """Largest RTT sample in seconds."""

    @property
    def delivery_rate(self) -> float:
        """delivered / elapsed, in bits per second."""

    @property
    def send_rate(self) -> float:
        """sent / elapsed, in bits per second."""

    @property
    def max_delivery_rate(self) -> float:
        """Largest delivery-rate sample in bits per second; 0 without samples."""

    @property
    def app_limited(self) -> bool:
        """Whether a packet acknowledged since had left application-limited."""

class Interface:
    """What agents see, decide and are rewarded for: names of `gym_features` and `gym_actions`."""

    def __init__(self, observe: Sequence[str], act: Sequence[str], reward: Sequence[tuple[str, float]]) -> None:
        """Raises ValueError for a name that there is not, or actions that do not go together."""

    def observed(self) -> tuple[list[float], list[float]]:
        """The least and the most of each number that is observed."""

    def acted(self) -> tuple[list[float], list[float]]:
        """The least and the most of each action."""

    def observation(self, report: Report, path: Path, window: float, pacing: float | None) -> list[float]:
        """What is observed at a report; window in bytes and pacing in bits per second are those in force."""

    def decision(
        self, actions: Sequence[float], path: Path, window: float, pacing: float | None
    ) -> tuple[float, float | None]:
        """Window in bytes and pacing rate in bits per second after an action. Raises ValueError for what is not a number."""

class Episode:
    """One trial with flows that agents steer."""

    def __init__(
        self, scenario: Scenario, seed: int, flows: Sequence[tuple[int, str]], interface: Interface
    ) -> None:
        """`flows` are those that agents steer, by their place in the scenario, and how often each decides ("1 rtt", "10 ms").

        Raises ValueError for a flow that cannot be steered."""

    def begin(self) -> int:
        """Goes on until the first flow is asked; tells which (by its place in `flows`), -1 if the trial ended before."""

    def step(self, actions: Sequence[float] | npt.NDArray[Any]) -> int:
        """Takes the action of the flow that is asked and goes on until one is; tells which, -1 at the end.

        Raises ValueError for an action that is not a number, and once the trial has ended."""

    def step_alone(self, actions: Sequence[float] | npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], float, bool]:
        """The same for a trial with one steered flow: what it sees, its reward, and whether the trial has ended."""

    def observation(self, flow: int) -> npt.NDArray[np.float32]:
        """What a flow sees."""

    def reward(self, flow: int) -> float:
        """What a flow is rewarded for since its last decision."""

    def features(self, flow: int) -> list[float]:
        """Every feature of a flow, in the order of `gym_features`."""

    def is_closed(self, flow: int) -> bool:
        """Whether the connection of a flow has closed."""

    @property
    def now(self) -> float:
        """Simulated time in seconds."""

    def outcomes(self) -> Outcomes:
        """The outcome of the trial. Raises ValueError before its end; nothing else is known of the trial afterwards."""

class Pool:
    """Threads for steps of many trials."""

    def __init__(self, jobs: int) -> None:
        """`jobs` threads; all cores for 0."""

    def step(
        self, episodes: Sequence[Episode], actions: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """One step of each trial, which has one steered flow: it takes its action, a row, unless it begins.

        Observations, rewards, and which trials have ended. Raises ValueError for an action that is not a number, before
        any trial goes on."""

def gym_features() -> list[tuple[str, str]]:
    """What agents can observe and be rewarded for: name and meaning."""

def gym_actions() -> list[tuple[str, str, tuple[float, float]]]:
    """What agents can decide: name, meaning and range."""

class QuicRefused(Exception):
    """A connection over sockets cannot be made as requested."""

class QuicFailed(Exception):
    """A connection over sockets failed before it finished."""

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
    resolve: Resolve,
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
        resolve: Resolve,
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
        overrides: Sequence[tuple[str, str]],
        controllers: Sequence[tuple[str, str]],
        resolve: Resolve,
    ) -> Scenario:
        """Reads a scenario. `file` is the name that errors use.

        `overrides` are `--set` pairs such as ("path.rate", "10 Mbps"); `controllers` are pairs
        (flow name, controller); `resolve` finds those in Python. Raises ScenarioError.
        """

    @staticmethod
    def live_from_toml(
        text: bytes,
        file: str,
        overrides: Sequence[tuple[str, str]],
        controllers: Sequence[tuple[str, str]],
        resolve: Resolve,
    ) -> Scenario:
        """Reads a scenario that runs in real time only: the kernel's TCP carries flows with controllers such as
        "kernel:cubic", the QUIC stack all others."""

    @staticmethod
    def path_from_toml(
        text: bytes, file: str, overrides: Sequence[tuple[str, str]], resolve: Resolve
    ) -> Scenario:
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
    def libraries(self) -> list[tuple[str, str, tuple[str, str, list[str], int]]]:
        """The libraries that are stacks of its flows: path, SHA-256, and what `inspect_library` says."""

    @property
    def resolved(self) -> str:
        """All that a trial depends on except its seed, with defaults filled in; controllers in Python only by their
        names. Two scenarios with the same text have the same trials in this engine."""

    @property
    def flows(self) -> list[FlowDescription]: ...

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
        watches it and finds something, and ControllerFailed."""

    def packets(
        self, seed: int, from_s: float, most: int
    ) -> tuple[Columns, Columns, list[str], float, str]:
        """The passages of packets through links in one trial, of at most `most` packets from `from_s` on, in the order
        in which they entered a link: link, flow, packet (its number), size_bytes, entered_s, marked_s, left_s (the
        queue, for the transmitter or dropped), sent_s (its last bit), due_s (when only propagation would have
        brought it), arrived_s, fate ("delivered", or the reason of
        the drop). Then the limits of queues as packets met them: time_s, link, limit_s, limit_bytes, limit_packets;
        the names of the links, down and up for each hop; up to when no packet is left out, in seconds; and the trace
        hash of the trial.
        Raises Cancelled and ControllerFailed."""

    def measured(self, text: str, core_s: float) -> Trial:
        """A trial in real time, as the process that measured it tells (JSON). `core_s` is the processor time that it
        took. Raises ValueError."""

    def traced_record(self, seed: int, audit: bool) -> tuple[str, float]:
        """One trial with its trace, as text that `measured` reads, and its processor time in seconds. Raises as `run`."""

    def record(self, seed: int, audit: bool) -> tuple[str, float]:
        """One trial as text for another process, and the processor time that it took. Raises as `run`."""

    def gathered(self, records: Sequence[tuple[int, str, float]]) -> Outcomes:
        """The outcomes of trials that others have played: number, text and processor time of each. Raises ValueError
        for a text that is none of this scenario."""

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

    def probe(self, seed: int, interval_ns: int, count: int, payload: int) -> ProbeTimes:
        """What `count` probes with `payload` bytes measure that go through the otherwise idle path of the first
        flow to an echo server."""

class Outcomes:
    """Outcomes of a number of trials, as columns."""

    @property
    def flows(self) -> Columns:
        """One row for each trial and flow, trial by trial.

        trial (index), seed (uint64), flow, controller, finished (bool), completion_s, closed_s (nan when
        unfinished), start_s, bytes_delivered, mean_rate_bps, packets_sent, packets_lost, packets_dropped,
        packets_lost_at_random, packets_marked, spurious_losses, timeouts, mean_rtt_s, min_rtt_s, max_rtt_s,
        trips (0 or 1), tripped_s (nan if it did not), tripped_by (text), mean_queue_delay_s, mean_jitter_s, then shared_bytes, shared_rate_bps and share (0 to 1; all
        three while all flows were active), event_rtt_s, event_rtt_high_s, load (0 to 1 and above), frame_delay_s and
        max_frame_delay_s (nan without a call). Further columns may come; readers must not rely on the exact set.
        """

    @property
    def links(self) -> Columns:
        """One row for each trial and link: trial, seed, link, delivered_packets, delivered_bytes,
        dropped_packets, lost_packets, marked_packets, utilisation (0 to 1), mean_queue_delay_s,
        max_queue_packets, requested_jitter_s, drawn_jitter_s, experienced_jitter_s, requested_loss,
        realised_loss (0 to 1); with a medium of Wi-Fi airtime, airtime_of_neighbours,
        airtime_of_several, airtime_idle, failed_attempts (0 to 1), else nan."""

    @property
    def requests(self) -> Columns:
        """One row for each trial, flow of requests and request: trial, seed, flow, request (number), start_s,
        bytes, completion_s (nan when unfinished), packets_sent, packets_lost, mean_rtt_s."""

    @property
    def streams(self) -> Columns:
        """One row for each trial, flow and stream of media: trial, seed, flow, stream, frames, mean_delay_s,
        p50_delay_s, p95_delay_s, p99_delay_s, max_delay_s, mean_delay_from_start_s, max_delay_from_start_s,
        mean_one_way_delay_s (nan without frames), late, freezes, skipped, recovery_s (nan if the path never changed)."""

    def series(
        self, trial: int, flow: int
    ) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None:
        """Length of a bin in seconds, and the bytes that a flow (by number) sent and received in each bin;
        None if the scenario has no `sample`, or there is no such trial or flow."""

    def sender_series(
        self, trial: int, flow: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]] | None:
        """Packets that a flow (by number) declared lost in each bin, and its largest RTT sample (s; 0 without one);
        None as for `series`, and in real time."""

    def capacity(self, trial: int, link: int) -> npt.NDArray[np.uint64] | None:
        """Bytes that a link (by number) could have transmitted in each bin; None as for `series`."""

    def records(self) -> list[tuple[int, str, float]]:
        """The trials as texts that lose nothing, each with its seed and the processor time that it took (s):
        `Scenario.gathered` makes outcomes of them again."""

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

def run_batches(
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
    jobs: int,
    on_progress: Callable[[int], None],
    on_finished: Callable[[int, Outcomes], None],
    audit: bool = False,
) -> bool:
    """One trial of each scenario for each seed, on `jobs` threads (0: all cores) that no scenario keeps waiting.

    `on_finished` gets the index and the outcomes of each scenario that is finished, in their order. Tells whether
    a Ctrl-C stopped it; it gets what was finished then, some trials of a scenario too. Raises AuditError, Panicked.
    """


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

    @property
    def held(self) -> Columns:
        """Packets that came out of a link later than transmission and propagation explain: time_s, link, flow,
        held_s (by how much)."""

    @property
    def frames(self) -> Columns:
        """Frames of calls, flow by flow and stream by stream: time_s (nominal), flow, stream, delay_s (NaN if it
        never arrived), deadline_s, frozen_s (of the freeze that it ended, NaN without one), counted (not before the start
        of measurement)."""
