"""What all environments do at the edges of an episode: seeds, errors in words, and what is known at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.engine.controllers.failure import error_of
from thalweg.engine.scenario import Scenario

LARGEST_SEED = 2**64 - 1


def checked_seed(seed: int) -> int:
    """A seed that a trial can have. Raises RequestError."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise RequestError(f"seed = {seed!r}: accepted: a whole number, 0 to 2^64 - 1")
    return int(seed)


@contextmanager
def stepping(scenario: Scenario) -> Iterator[None]:
    """What is wrong with an action, or with a controller of another flow, is an error of this package."""
    try:
        yield
    except _native.ControllerFailed as failed:
        raise error_of(failed, scenario.definitions) from failed.__cause__
    except (ValueError, TypeError) as error:
        raise RequestError(str(error)) from None


def end_of(outcomes: _native.Outcomes, seed: int) -> dict[str, Any]:
    """What the last `info` of an episode says."""
    return {"seed": seed, "trace_hash": str(outcomes.trials["trace_hash"][0])}
