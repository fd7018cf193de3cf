"""One batch after the other, for executors that play one at once on all that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from thalweg.base.executor import Batch, Report


def in_turn(batches: Iterable[Batch], play_batch: Callable[[Batch, Report], None], report: Report) -> None:
    """Plays batches as they come; what is reported counts trials from the first batch on."""
    before = 0
    for batch in batches:

        def hear(finished: int, before: int = before) -> None:
            report(before + finished)

        play_batch(batch, hear)
        before += batch.trials
