"""Six controllers on four elements, in both directions: alone, next to a flow of CUBIC, and as calls next to one.

The elements come from scenarios of the suite `wifi`, whose flows are set anew; a line has the command that
plays it again, for any controller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from pages.made import row
from thalweg.base.quantity import percent
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.judging.statistics.digits import bracketed
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.quantiles import median_interval
from thalweg.judging.statistics.ratios import ratio_of_medians

CONTROLLERS = ("c4", "cubic", "reno", "prague", "bbr", "bbr1")
ELEMENTS = ("jitter-by-packet", "jitter-in-time", "apartment", "hidden")
WAYS = ("download", "upload")
TRIALS = 100
_ROUTE = 'route=["wire","air"]'
_SENDERS = {"download": "server", "upload": "client"}


def _transfer(name: str, way: str) -> str:
    return f'{{name="{name}",controller="cubic",{way}="10 MB",{_ROUTE}}}'


def _call(way: str) -> str:
    rate = 'rate={least="150 kbps",most="4 Mbps"}'
    video = f'{{name="video",from="{_SENDERS[way]}",carriage="datagrams",per_second=30,duration="20 s",{rate}}}'
    return f'{{name="main",controller="cubic",background=true,{_ROUTE},media=[{video}]}}'


def _unending(way: str) -> str:
    return f'{{name="other",controller="cubic",background=true,{way}="1 GB",{_ROUTE}}}'


@dataclass(frozen=True)
class Table:
    """What flows there are, by the direction of the first, and what is said of the trials of each controller."""

    flows: Callable[[str], tuple[str, ...]]
    settings: tuple[tuple[str, str], ...]
    """Further keys of the scenario."""
    said: Callable[[str, str, str], str]
    """What an element, a direction and a controller show."""


def _overrides(table: Table, element: str, way: str) -> dict[str, str]:
    flows = ",".join(table.flows(way))
    if element.startswith("jitter"):
        # A single path, on which there are no routes.
        flows = flows.replace(f",{_ROUTE}", "")
    return {"flow": f"[{flows}]", "pass": "[]", **dict(table.settings)}


@cache
def _played(name: str, element: str, way: str, controller: str) -> Outcomes:
    overrides = _overrides(TABLES[name], element, way)
    return Scenario.load(f"wifi/{element}", overrides, {"main": controller}).trials(TRIALS)


def _of_main(table: pl.DataFrame, column: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return table.filter(pl.col("flow") == "main")[column].cast(pl.Float64).to_numpy()


def _alone(element: str, way: str, controller: str) -> str:
    """Completion over CUBIC's."""
    own, cubic = (
        _of_main(_played("alone", element, way, one).flows, "completion_s") for one in (controller, "cubic")
    )
    if controller == "cubic":
        return bracketed(median_interval(cubic), "s")
    return bracketed(ratio_of_medians(own, cubic))


def _share(name: str) -> Callable[[str, str, str], str]:
    def said(element: str, way: str, controller: str) -> str:
        shares = _of_main(_played(name, element, way, controller).flows, "share")
        return bracketed(median_interval(shares), "share")

    return said


def _frames(element: str, way: str, controller: str) -> str:
    """The 95th percentile of delays of frames, those that are late, and the time frozen."""
    streams = _played("call", element, way, controller).streams
    delay = bracketed(median_interval(_of_main(streams, "p95_delay_s")), "s")
    late = mean_interval(_of_main(streams, "late") / _of_main(streams, "frames"))
    frozen = mean_interval(_of_main(streams, "frozen_s"))
    return f"{delay}; {percent(late.value)} late; {frozen.value:.2f} s frozen"


TABLES = {
    "alone": Table(lambda way: (_transfer("main", way),), (), _alone),
    "against": Table(lambda way: (_transfer("main", way), _transfer("other", way)), (), _share("against")),
    "across": Table(
        lambda way: (_transfer("main", way), _transfer("other", next(one for one in WAYS if one != way))),
        (),
        _share("across"),
    ),
    "call": Table(lambda way: (_call(way), _unending(way)), (("time_limit", '"22 s"'),), _frames),
}
"""Alone; next to CUBIC in the same direction, and in the other one; a call next to CUBIC in the same direction."""


def lines(name: str) -> Iterator[str]:
    """A line for each element and direction of the first flow."""
    yield row("element", "direction", *(f"`{controller}`" for controller in CONTROLLERS), "replay")
    yield row(":--", ":--", *("--:" for _ in CONTROLLERS), ":--")
    yield from (line(name, element, way) for element in ELEMENTS for way in WAYS)


def line(name: str, element: str, way: str) -> str:
    """One of them."""
    cells = (TABLES[name].said(element, way, controller) for controller in CONTROLLERS)
    sets = " ".join(f"--set '{key}={value}'" for key, value in _overrides(TABLES[name], element, way).items())
    return row(
        element, way, *cells, f"`thalweg run wifi/{element} {sets} --controller main=NAME --trials {TRIALS}`"
    )
