"""The list of all studies, which loads none of them."""

from __future__ import annotations

from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from thalweg.base.errors import RequestError

if TYPE_CHECKING:
    from thalweg.experiments.studies.runner.study import Study

TITLES = {
    "wifi-compete": "C4 before its drafts, against others on bad Wi-Fi (2025)",
    "harm": "Harm to the completion times of short flows",
    "transient": "How controllers react to steps of capacity, round-trip time and flow arrival",
    "stacks": "The modelled endpoint and a real QUIC stack under the same controllers",
    "fairness": "Shares of a bottleneck, for all pairs of controllers and many flows of one",
    "laws": "What the standards imply, checked by measurement",
    "loopback": "Throughput of C4 and others over 127.0.0.1",
    "slow-start": "Slow starts side by side",
    "hunt": "Published worst cases, found again",
}
"""By their names on the command line; a study is the `STUDY` of its package."""


APART = {"wifi-compete": "thalweg_c4_history"}
"""The packages of studies that are outside of `thalweg`: wheels are without them."""


def lacking(name: str) -> str | None:
    """What a study needs that is not here, in a sentence; None if it can be loaded."""
    package = APART.get(name)
    if package is None or find_spec(package) is not None:
        return None
    return f"needs the package {package}, which a checkout of Thalweg has and a wheel has not"


def study_of(name: str) -> Study[Any, Any, Any]:
    """The study of this name. Raises RequestError if its package is not here.

    >>> study_of("slow-start").title
    'Slow starts side by side'
    """
    if lacks := lacking(name):
        raise RequestError(f"the study {name} {lacks}")
    package = APART.get(name, f"{__package__}.{name.replace('-', '_')}")
    study: Study[Any, Any, Any] = resolve_name(f"{package}.study:STUDY")
    return study
