"""Ours compared with what Google has published of BBR in words: the second part of the page of `nsperf`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from pages.made import row
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text

LOSSES = ("0.001 %", "0.01 %", "0.1 %", "1 %", "2 %", "5 %", "10 %", "15 %", "20 %")
CONTROLLERS = ("cubic", "bbr1", "bbr")
RATE_BPS = 100e6
BEFORE = """\
The script of `nsperf` draws its figures on the machine where it runs and names no numbers; none were found in
its repository. The slides of ICCRG at IETF 104 to 112 and of CCWG at IETF 117 and 119, which the README of
`google/bbr` lists, have figures, but their text could not be had. Searched were the files of that repository,
and public code, pages and documentation for the names and the paths of these tests. What Google's authors have
published in words is of another path (Cardwell et al. 2016, *BBR: Congestion-Based Congestion Control*, its
figure of goodput against random loss; read in a copy): 100 Mbps, 100 ms, flows of 60 s. They report that CUBIC
has a tenth at 0.1 % and stalls above 1 %, and that BBR (the first version) has all that losses leave up to 5 %
and comes close to it up to 15 %."""
OURS = """\
Ours on that path: goodput in parts of the rate of the link less its losses, of one flow each, a buffer of one
BDP (the article names none), seed {seed}."""
AFTER = """\
`cubic` falls as published, lower at 0.1 % (5.9 % of the rate, not a tenth). `bbr1` has the published plateau
up to 5 %, is close to it at 15 %, and leaves it towards 1 - 1/1.25 = 20 %, where a probe at 1.25 times the rate
delivers no more than the rate. `bbr` is the third version, which the figure does not have: it holds up to 1 % and
gives way from 2 % on, where about half of its round trips lose more than its threshold of 2 %
(draft-ietf-ccwg-bbr section 5.3.3.7), as its authors mean it to."""


def wrapped(paragraph: str) -> str:
    """A paragraph of the page."""
    return fill(" ".join(paragraph.split()), 110, break_on_hyphens=False)


def part_of_limit(controller: str, loss: str, seed: int) -> float:
    """The goodput of a flow in parts of the rate of the link, less what is lost, and less headers."""
    keys = {
        "title": "random loss",
        "overhead": "0 B",
        "time_limit": "60 s",
        "path": {"rate": "100 Mbps", "rtt": "100 ms", "buffer": "1 bdp", "loss": loss},
        "flow": [{"name": "main", "controller": controller, "download": "10 GB", "background": True}],
        "pass": [{"flow": "main", "metric": "rate", "at_least": "1 bps"}],
    }
    verdict = Scenario.from_toml(scenario_text(keys), "random loss").trials(1, seed=seed).verdict()
    return verdict.criteria[0].median / (RATE_BPS * (1 - float(loss.removesuffix(" %")) / 100))


def lines_of(loss: str, seed: int) -> Iterator[str]:
    """The line of a loss rate."""
    parts = {name: part_of_limit(name, loss, seed) for name in CONTROLLERS}
    yield row(loss, *(f"{100 * part:.1f} %" for part in parts.values()))


def section(seed: int) -> str:
    """The section of the page."""
    lines = [line for loss in LOSSES for line in lines_of(loss, seed)]
    return f"""## Compared with Google's published figures

{wrapped(BEFORE)}

{wrapped(OURS.format(seed=seed))}

<!-- made: published -->
{row("random loss", *(f"`{name}`" for name in CONTROLLERS))}
{row(":--", *("--:" for _ in CONTROLLERS))}
{chr(10).join(lines)}
<!-- end -->

{wrapped(AFTER)}
"""
