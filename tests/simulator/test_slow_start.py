"""Jitter ends CUBIC's slow start early, and what repairs that: the experiment of docs/how-to/probe.md."""

from __future__ import annotations

import numpy as np

from pages.probe import play, slow_start

PATH_BYTES = 250e3
"""50 Mbps times 40 ms."""
SEEDS = range(1, 5)


def medians(path: str, controller: str) -> tuple[float, float, float]:
    """Window at the first end of slow start, returns to it, completion."""
    found = [slow_start(play(path, controller, seed)) for seed in SEEDS]
    first, returns, done = np.median(
        [(run.first_exit_bytes, run.returns, run.completion_s) for run in found], axis=0
    )
    return float(first), float(returns), float(done)


def test_jitter_ends_slow_start_before_the_path_is_full_and_hystart_plus_plus_takes_it_up_again() -> None:
    calm, no_return, _ = medians("no jitter", "cubic")
    assert PATH_BYTES < calm < 8 * PATH_BYTES
    assert no_return == 0
    early, returns, done = medians("7 ms, in order", "cubic")
    assert 15e3 < early < PATH_BYTES / 2
    # RFC 9406 section 4.2: conservative slow start goes back when the delay proves to have been a spike.
    assert 2 <= returns <= 20
    without, _, control = medians("7 ms, in order", "cubic:start=classic")
    assert without > 4 * PATH_BYTES
    assert control < done < 1.5 * control


def test_where_packets_are_reordered_only_the_repair_of_the_blog_saves_the_download() -> None:
    _, _, standard = medians("7 ms, reordering", "cubic")
    _, returns, repaired = medians("7 ms, reordering", "cubic:variant=picoquic")
    assert returns >= 8
    assert 1.7 < repaired < 8  # 10 MB at 50 Mbps last 1.6 s
    assert standard > 4 * repaired
