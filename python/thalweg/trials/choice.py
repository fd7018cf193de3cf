"""Which executor a command uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thalweg.base.errors import RequestError
from thalweg.base.executor import Executor
from thalweg.trials.machine import ThisMachine


@contextmanager
def chosen(jobs: int = 0, cluster: str | None = None) -> Iterator[Executor]:
    """The cluster at an address, if one is named, or so many threads of this machine. Raises RequestError."""
    if cluster is None:
        yield ThisMachine(jobs)
        return
    if jobs:
        raise RequestError("--jobs cannot be combined with --cluster, which uses all its workers")
    from thalweg.trials.cluster import connected  # noqa: PLC0415 - Dask is an extra

    with connected(cluster) as executor:
        yield executor
