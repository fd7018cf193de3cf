"""Published statements on slow starts, beside what was measured. They decide nothing: their paths are others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from thalweg.base.quantity import percent
from thalweg.experiments.studies.runner.result import Finding
from thalweg.experiments.studies.slow_start.checks import of_start, over_classic, share, told
from thalweg.experiments.studies.slow_start.measure import Measured, together
from thalweg.experiments.studies.slow_start.parameters import Cell
from thalweg.judging.statistics.claims import above, below, within

_SATELLITE_S = 0.5
"""RTTs from here on are those of a geostationary satellite."""


def findings(cells: Mapping[Cell, Measured]) -> list[Finding]:
    """The statements that the cells allow."""
    groups = dict(together(cells))
    return [*_search(groups), *_satellite(groups), *_jitter(groups)]


def _search(groups: Mapping[Cell, Measured]) -> Iterator[Finding]:
    searched = of_start(groups, "search").items()
    quiet = {cell: measured for cell, measured in searched if not cell.jittered and not cell.application}
    if quiet:
        late = share(quiet, "late")
        yield Finding(
            "SEARCH leaves slow start before packets are lost",
            "draft-chung-ccwg-search-09",
            "reliably",
            f"reached more than path and buffer hold in {told(late)}",
            below(late, 0.1),
            "Its window of 3.5 RTTs and its threshold of 26 % see that deliveries fall behind after more than an "
            "RTT, in which the window still doubles. It takes a buffer that is deeper than that.",
        )


def _satellite(groups: Mapping[Cell, Measured]) -> Iterator[Finding]:
    far = {
        cell: measured for cell, measured in groups.items() if cell.rtt_s >= _SATELLITE_S and not cell.application
    }
    for level, what, published, low, high in (
        (5_300_000, "5.3 MB", "4 s instead of 9 s, 44 %", 0.34, 0.54),
        (1_000_000, "1 MB", "38 %, sooner by 62 %", 0.28, 0.48),
    ):
        for cell, ratio in over_classic(far, "resume", level).items():
            yield Finding(
                f"Careful Resume shortens {what} over a satellite, {cell.controller}, {cell.condition}",
                "draft-ietf-tsvwg-careful-resume-22 section 1.4",
                published,
                f"{percent(ratio.value)} of the time of classic slow start",
                within(ratio, low, high),
                "The rate of their path and the start of their standard control are not said. Here time begins "
                "with the first data and ends with the acknowledgement of the last.",
            )


def _jitter(groups: Mapping[Cell, Measured]) -> Iterator[Finding]:
    delayed = of_start(groups, "hystart").items()
    wifi = {cell: measured for cell, measured in delayed if cell.jittered and not cell.application}
    if wifi:
        early = share(wifi, "early")
        yield Finding(
            "jitter of Wi-Fi ends slow start by delay early",
            "blog of the authors of C4 on the jitter of Wi-Fi",
            "the test of Hystart is misled",
            f"HyStart++ leaves less than the path holds in {told(early)}",
            above(early, 0.5),
            "Conservative slow start goes back when the delay proves to have been a spike, which Hystart did not.",
        )
