"""Parts of an installation that not everyone needs: `pip install "thalweg[plots]"`.

Without any of them suites run, and pages and figures in HTML are written: that takes half of the room.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from thalweg.base.errors import RequestError

EXTRAS = {
    "plots": {"altair": "altair", "vl_convert": "vl-convert-python"},
    "fits": {"scipy": "scipy"},
    "lab": {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"},
    "cluster": {"distributed": "distributed"},
    "hunt": {"optuna": "optuna"},
    "captures": {"dpkt": "dpkt"},
}
"""The modules of each, and their packages: pictures and figures; fits; server of the lab; clusters; searches;
captures of packets."""


def require(extra: str, what: str) -> None:
    """Refuses what needs packages that are not installed, before any work is done. Raises RequestError.

    >>> require("fits", "the probe")
    """
    missing = [package for module, package in EXTRAS[extra].items() if find_spec(module) is None]
    if missing:
        raise RequestError(f"{what} requires {' and '.join(missing)}: {_remedy(extra)}")


def _remedy(extra: str) -> str:
    """How to get it: a checkout has a target for all of them."""
    checkout = Path(__file__).parents[3] / "requirements-run.lock"
    return "make build" if checkout.exists() else f'pip install "thalweg[{extra}]"'
