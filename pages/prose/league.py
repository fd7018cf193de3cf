"""Values of docs/evidence/league.md."""

from __future__ import annotations

from collections.abc import Callable

from pages.prose.tables import Source

PAGE = "evidence/league.md"
HERE = Source(PAGE)
NETWORKS = ("dsl", "lte", "leo", "geo", "congested", "bdp20")


def _law(loss: str, column: str) -> Callable[[], float]:
    return HERE.cell("laws CUBIC", f"`docs/evidence/league/loss-{loss}.toml`", column)


def _share(network: str, stack: str) -> Callable[[], float]:
    return HERE.cell("shares CUBIC", f"`profiles/{network}-beside-cubic`", stack)


def _kept(controller: str) -> float:
    """The share of its window that quiche keeps in an outage, in percent."""
    before, after = (
        HERE.now.cell("outage", f"quiche | {controller}", column)
        for column in ("window before", "least window after")
    )
    return 100 * after / before


VALUES: dict[str, Callable[[], float]] = {
    "quiche-0.1": _law("0.1", "quiche"),
    "law-0.1": _law("0.1", "law"),
    "quiche-1": _law("1", "quiche"),
    "law-1": _law("1", "law"),
    **{f"quiche-{network}": _share(network, "quiche") for network in NETWORKS},
    **{f"model-{network}": _share(network, "model") for network in NETWORKS[3:]},
    "quiche-later": HERE.cell("two CUBIC", "`docs/evidence/league/two.toml`", "quiche"),
    "keeps-cubic": lambda: _kept("cubic"),
    "keeps-reno": lambda: _kept("reno"),
    "ngtcp2-law": lambda: _law("0.1", "ngtcp2")() / _law("0.1", "law")(),
    "ngtcp2-least": lambda: min(HERE.now.column("shares CUBIC", "ngtcp2")),
    "ngtcp2-most": lambda: max(HERE.now.column("shares CUBIC", "ngtcp2")),
}
