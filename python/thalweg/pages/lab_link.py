"""Links that open a trial in the lab: pages have them, and `thalweg lab --trial` takes them.

What stands behind the `#` of the address is not sent to its server. It is `trial=` and a table in JSON, deflated
(RFC 1951), in base64 for addresses without padding (RFC 4648 section 5): `t` the scenario, `n` its name, `s`
and `c` the settings and controllers that change it, `d` the seed, `v` the version, `h` the trace hash. The page
of the lab writes and reads the same (lab/src/state/link.ts).
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.base.toml import read_toml
from thalweg.engine.outcome import Description, Outcomes

SITE = "https://thalweg.github.io/thalweg"
"""Where the manual is published; the lab is a page of it, whose trials run in the browser of the reader."""
LAB = f"{SITE}/lab/"
_LONGEST = 1 << 20
"""The most bytes of JSON that the page of the lab unpacks."""
_FRAGMENT = re.compile(r"#trial=[\w-]+$", re.ASCII)


@dataclass(frozen=True)
class TrialLink:
    """A trial of a scenario as it ran."""

    name: str
    toml: str
    seed: int
    version: str
    trace_hash: str
    """Empty where it is not known: then the page does not say whether its trial is the same."""

    @property
    def fragment(self) -> str:
        """The part of an address from `#` on.

        >>> fragment_of(TrialLink("mine.toml", "", 7, "0.1.0", "").fragment)[:7]
        '#trial='
        """
        words = {"v": self.version, "h": self.trace_hash, "n": self.name, "d": str(self.seed)}
        table = json.dumps({**words, "t": self.toml, "s": {}, "c": {}}, separators=(",", ":"))
        packer = zlib.compressobj(level=9, wbits=-15)  # without the header of zlib
        packed = packer.compress(table.encode()) + packer.flush()
        return f"#trial={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"

    @property
    def address(self) -> str:
        """The address that opens it at the published lab."""
        return LAB + self.fragment


def link_to(outcomes: Outcomes, trial: int, version: str) -> TrialLink | None:
    """The link to a trial, None if the lab in a browser cannot run it."""
    of = outcomes.scenario
    return link_of(of, outcomes.seed_of(trial), version, outcomes.trace_hash(trial))


def link_of(of: Description, seed: int, version: str, trace_hash: str) -> TrialLink | None:
    """The link to the trial of a scenario with a seed, None if the lab in a browser cannot run it.

    It has no controllers in Python, no QUIC stack (`thalweg_sim::quic`) and no variants of `crates/reference`,
    and refuses what is too long.
    """
    name = f"{of.suite}/{of.name}" if of.suite else of.name
    if of.controllers or len(of.toml.encode()) > _LONGEST // 2 or not runs_in_browser(of.toml):
        return None
    return TrialLink(name, of.toml, seed, version, trace_hash)


@lru_cache(maxsize=16)  # a page links to several trials of a scenario
def runs_in_browser(toml: str) -> bool:
    r"""Whether the flows of a scenario have controllers and a transport that a browser has.

    >>> [runs_in_browser(f'[[flow]]\ncontroller = "{name}"') for name in ("c4", "noq:bbr3", "c4:variant=v1")]
    [True, False, False]
    """
    try:
        flows = read_toml(toml, "scenario").get("flow", [])
    except RequestError:
        return True  # the page itself says what it cannot run
    return not any(
        flow.get("stack", "model") != "model" or not _native.runs_in_browser(str(flow.get("controller", "c4")))
        for flow in flows
        if isinstance(flow, dict)
    )


def fragment_of(link: str) -> str:
    """The part from `#` on of a link that somebody has pasted. Raises RequestError.

    >>> fragment_of("https://example.org/lab/#trial=AAAA")
    '#trial=AAAA'
    """
    found = _FRAGMENT.search(link.strip())
    if found is None:
        shown = link if len(link) <= 60 else f"{link[:60]}..."
        raise RequestError(f"--trial {shown!r}: accepted: a link to a trial, or its part from #trial= on")
    return found[0]
