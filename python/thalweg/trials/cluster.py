"""Trials on a cluster of Dask: `--cluster ADDRESS`, or `--cluster local:N` for N processes of this machine.

Dask moves the work and repeats what was lost with a worker. A batch that keeps ending its workers is played trial
by trial, and a trial that still does fails. All workers must have our engine, or outcomes would be mixed.
"""

from __future__ import annotations

import logging
import queue
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from thalweg import _native
from thalweg.base.errors import AuditError, ControllerError, RequestError
from thalweg.base.executor import Batch, Executor, Failed, Finished, Report, T, Take, unheard
from thalweg.base.extras import require
from thalweg.engine import audit
from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.trials.apart import FAILURES
from thalweg.trials.portable import TrialRecord, document_of, gathered, is_portable, read_answer
from thalweg.trials.remote import Answers, engine_here, play, take_from

if TYPE_CHECKING:
    from distributed import Client, Future

_LOCAL = re.compile(r"local:([0-9]{1,4})")
_PATIENCE_S = 10.0
"""How long a scheduler may be silent."""
_LOST_S = 3.0
"""How long a worker may be silent that has outcomes to hand over."""
_POLL_S = 0.1
_LOOK_S = 2.0
"""How often the workers are counted."""
_SETTINGS = {
    # Outcomes that a lost worker has taken along are asked for in vain, and played again elsewhere.
    "distributed.comm.timeouts.connect": _LOST_S,
    # Workers that we start look at themselves ten times as seldom: together 3 % of their processor time.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "200ms",
    "distributed.worker.memory.monitor-interval": "500ms",
}
"""Settings of Dask."""
_LOST = (OSError, CancelledError, UnboundLocalError)
"""What asking for a result raises when the scheduler is lost; the last comes from `distributed.utils.sync`, which
has no result where its coroutine was cancelled."""
_AHEAD = 2
"""Batches for each thread of a worker that wait there or are at work, so that none has to wait for the next."""


@contextmanager
def connected(address: str) -> Iterator[Executor]:
    """The cluster at an address such as `tcp://10.0.0.1:8786`, or `local:4`. Raises RequestError."""
    require("cluster", f"--cluster {address}")
    import dask  # noqa: PLC0415 - an extra, and it takes half a second to load
    import distributed  # noqa: PLC0415

    dask.config.set(_SETTINGS)
    for name in ("distributed", "asyncio", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is lost is said once, by us
    local = _LOCAL.fullmatch(address)
    if address.startswith("local") and (local is None or not 1 <= int(local[1]) <= 1024):
        raise RequestError(f"--cluster {address!r}: accepted: local:N with N from 1 to 1024, or an address")
    if local:
        with (
            distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address=None,
                # Without a dashboard there still is a web server, at a port that two commands would contend for.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield Cluster(client, address)
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = str(error).partition("\n")[0] if isinstance(error, ValueError | TypeError) else "nobody answers"
        raise RequestError(
            f"--cluster {address!r}: {why}; accepted: the address of a running dask scheduler, such as "
            "tcp://10.0.0.1:8786, or local:N"
        ) from None
    with client:
        cluster = Cluster(client, address)
        cluster.check_workers()
        yield cluster


@dataclass(frozen=True)
class _Part:
    """Trials of a batch that are played together: the numbers of scenario and seed of each."""

    batch: Batch
    trials: Sequence[tuple[int, int]]

    @staticmethod
    def of(batch: Batch) -> _Part:
        """All of them."""
        return _Part(batch, [(n, i) for n in range(len(batch.scenarios)) for i in range(len(batch.seeds))])

    @property
    def numbers(self) -> list[int]:
        """The numbers of its scenarios."""
        return list(dict.fromkeys(number for number, _ in self.trials))


class Cluster:
    """Workers of Dask."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        self._workers = self._threads = 0
        self._looked = 0.0

    @property
    def width(self) -> int:
        """How many trials it plays at once: one on each thread of a worker."""
        self._look()
        return max(1, self._threads)

    @property
    def lanes(self) -> int:
        """As many batches; at least two, since it takes another one while the first is played."""
        return max(2, self.width)

    @property
    def name(self) -> str:
        """For people."""
        self._look()
        return f"{self._workers} worker{'' if self._workers == 1 else 's'}"

    def check_workers(self) -> None:
        """Refuses workers of another engine. Raises RequestError, one message for all of them."""
        try:
            engines = self._client.run(engine_here, on_error="return")
        except Exception as error:
            raise RequestError(f"--cluster {self._address!r}: {str(error).partition(chr(10))[0]}") from None
        for worker, engine in engines.items():
            if engine != _native.engine():
                other = engine if isinstance(engine, str) else None
                others = sum(other != _native.engine() for other in engines.values())
                raise self._other_engine(other, f"{others} of {len(engines)} workers, {worker} for one,")

    def play(self, batches: Iterable[Batch], take: Take, report: Report = unheard) -> None:
        """Plays batches, as many at once as there are threads of workers."""
        _Flight(self, self._client, iter(batches), take, report).run()

    def each(
        self, scenario: Scenario, seeds: Sequence[int], take: Callable[[Trial], T], report: Report = unheard
    ) -> list[T]:
        """What `take` makes of each trial, on the worker that has played it."""
        self._refuse_own_classes(scenario)
        document, engine = document_of(scenario, audit.is_on()), _native.engine()
        futures = self._client.map(
            lambda seed: take_from(engine, document, seed, take), list(seeds), pure=False, key="thalweg-trial"
        )
        found: list[T] = []
        try:
            for seed, future in zip(seeds, futures, strict=True):
                there, taken = self._result(future, seed)
                if there != engine:
                    self.refuse_engine(there)
                found.append(taken)
                report(len(found))
        finally:
            self._client.cancel([future for future in futures if not future.done()])
        return found

    def _result(self, future: Future[Any], seed: int) -> Any:
        from distributed import TimeoutError as TooLate  # noqa: PLC0415 - an extra
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        while True:
            try:
                return future.result(timeout=_POLL_S)
            except TooLate:
                continue
            except (AuditError, ControllerError, RuntimeError):
                raise
            except _LOST:
                raise self.lost() from None
            except KilledWorker:
                raise ends_workers(seed) from None

    def _refuse_own_classes(self, scenario: Scenario) -> None:
        if not is_portable(scenario):
            raise RequestError(
                f"--cluster {self._address!r}: a cluster requires controllers in files, "
                "not a class of this process"
            )
        if scenario.libraries:
            raise RequestError(f"--cluster {self._address!r} cannot be combined with the stack of a library")

    def submit(self, part: _Part) -> Future[Any]:
        """Sends trials. Raises RequestError."""
        batch, audited = part.batch, audit.is_on()
        own = {number: [batch.seeds[i] for n, i in part.trials if n == number] for number in part.numbers}
        for number in own:
            self._refuse_own_classes(batch.scenarios[number])
        documents = [document_of(batch.scenarios[number], audited) for number in own]
        return self._client.submit(play, _native.engine(), documents, list(own.values()), pure=False)

    def lost(self) -> RequestError:
        """The error of a scheduler that is there no more."""
        return RequestError(
            f"--cluster {self._address!r}: the scheduler no longer answers; run again when it does: "
            "what was stored is kept"
        )

    def refuse_engine(self, engine: str) -> NoReturn:
        """Raises RequestError for a worker that came later."""
        raise self._other_engine(engine, "a worker")

    def _other_engine(self, engine: str | None, who: str) -> RequestError:
        has = f"Thalweg {engine}" if engine else "no Thalweg that can be loaded"
        return RequestError(
            f"--cluster {self._address!r}: {who} has {has}, this command {_native.engine()}; all workers "
            "need the same version"
        )

    def _look(self) -> None:
        if time.monotonic() - self._looked < _LOOK_S:
            return
        try:
            found: dict[str, Any] = self._client.scheduler_info(n_workers=0)
        except Exception:
            found = {}
        if found:
            self._workers, self._threads = int(found["n_workers"]), int(found["total_threads"])
        self._looked = time.monotonic()


def ends_workers(seed: int) -> ControllerError:
    """The error of a trial that ends whatever worker plays it."""
    return ControllerError(f"the workers that played it have ended each time (seed {seed})")


class _Flight:
    """One run of batches."""

    def __init__(
        self, cluster: Cluster, client: Client, batches: Iterator[Batch], take: Take, report: Report
    ) -> None:
        self._cluster, self._client, self._batches = cluster, client, batches
        self._take, self._tell = take, report
        self._again: deque[_Part] = deque()
        self._flying: dict[Future[Any], _Part] = {}
        self._landed: queue.Queue[Future[Any]] = queue.Queue()
        self._finished = 0

    def run(self) -> None:
        """Plays all. Raises as `Executor.play`."""
        try:
            while True:
                self._send()
                self._tell(self._finished)
                if not self._flying:
                    return
                try:
                    future = self._landed.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                self._land(future)
        except KeyboardInterrupt:
            while not self._landed.empty():
                future = self._landed.get()
                if future.status == "finished":
                    self._land(future)
            raise
        finally:
            if self._flying:
                try:
                    self._client.cancel(list(self._flying), force=True)
                except Exception:  # the scheduler is lost: so are they
                    self._flying.clear()

    def _send(self) -> None:
        """Sends batches as long as there is room."""
        room = _AHEAD * self._cluster.width - len(self._flying)
        for _ in range(room):
            part = self._again.popleft() if self._again else self._next()
            if part is None:
                return
            try:
                future = self._cluster.submit(part)
            except (OSError, RuntimeError):  # of a client that is closed
                raise self._cluster.lost() from None
            self._flying[future] = part
            future.add_done_callback(self._landed.put)

    def _next(self) -> _Part | None:
        batch = next(self._batches, None)
        return None if batch is None else _Part.of(batch)

    def _land(self, future: Future[Any]) -> None:
        """Hands over what came of some trials, or sends them again."""
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - an extra

        part = self._flying.pop(future)
        if future.status in ("cancelled", "lost"):
            raise self._cluster.lost()
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise RequestError(f"a worker cannot play trials: {type(error).__name__}: {error}")
            self._repeat(part)
            return
        try:
            played: Answers | str = future.result()
        except _LOST:  # it was on its way
            raise self._cluster.lost() from None
        if isinstance(played, str):
            self._cluster.refuse_engine(played)
        self._hand_over(part, played.answers)
        self._finished += len(part.trials)

    def _repeat(self, part: _Part) -> None:
        """Plays one by one the trials that have ended their worker together; one that ends it again fails."""
        if len(part.trials) > 1:
            self._again += [_Part(part.batch, [trial]) for trial in part.trials]
            return
        ((number, index),) = part.trials
        seed = part.batch.seeds[index]
        self._take(Failed(part.batch, number, seed, ends_workers(seed)))
        self._finished += 1

    def _hand_over(self, part: _Part, answers: Sequence[dict[str, Any]]) -> None:
        records: dict[int, list[TrialRecord]] = {}
        ordered = [trial for number in part.numbers for trial in part.trials if trial[0] == number]
        for (number, index), answer in zip(ordered, answers, strict=True):
            try:
                records.setdefault(number, []).append((index, *read_answer(answer)))
            except FAILURES as error:
                self._take(Failed(part.batch, number, part.batch.seeds[index], error))
        for number, own in records.items():
            if own:
                self._take(Finished(part.batch, number, gathered(part.batch.scenarios[number], own)))
