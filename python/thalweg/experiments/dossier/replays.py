"""What replays of a dossier are held against: its scenarios with the limits of their worst trials as criteria.

A number of several flows has a criterion for each, which at least one of them misses where the number is beyond
its limit: of a sum, its share of the limit; of a largest value and of a share of all packets, the limit itself.
Numbers that no metric measures have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from thalweg.base.toml import read_toml
from thalweg.engine.scenario_text import nanoseconds, scenario_text, single
from thalweg.experiments.dossier.judge import Judgement
from thalweg.experiments.dossier.numbers import MADE, MAIN, OTHER, VIDEO
from thalweg.experiments.dossier.parameters import cell_name


def with_limits(scenarios: Mapping[str, str], judged: Iterable[Judgement]) -> dict[str, str]:
    """The texts of scenarios by the names of cells; limits that a number is beyond are their criteria."""
    beyond: dict[str, list[Judgement]] = {}
    for one in judged:
        if one.is_beyond and one.number.name in MADE:
            beyond.setdefault(cell_name(one.setting.name, one.player), []).append(one)
    return {name: _limited(toml, beyond[name]) if name in beyond else toml for name, toml in scenarios.items()}


def _limited(toml: str, beyond: Iterable[Judgement]) -> str:
    keys = single(read_toml(toml, "scenario"))
    names = [str(flow["name"]) for flow in keys["flow"]]
    return scenario_text({**keys, "pass": [one for judged in beyond for one in _criteria(judged, keys, names)]})


def _criteria(one: Judgement, keys: Mapping[str, Any], names: list[str]) -> Iterator[dict[str, Any]]:
    made = MADE[one.number.name]
    mine, others = ([flow for flow in names if flow.startswith(prefix)] for prefix in (MAIN, OTHER))
    calls = [str(flow["name"]) for flow in keys["flow"] if "media" in flow]
    flows = {"main": mine, "other": others, "starved": others or names, "video": calls}[made.of]
    bound = one.worst_bound / (len(flows) if made.over == "sum" else 1)
    stream = {"stream": VIDEO} if made.of == "video" else {}
    source = f"limit of {one.number.heading} with seed {one.worst_seed}"
    for flow in flows:
        about = {"flow": flow, **stream, "metric": made.metric}
        yield {**about, one.side: _quantity(bound, one.number.unit), "source": source}


def _quantity(value: float, unit: str) -> str:
    if unit == "s":
        return nanoseconds(value)
    if unit == "bps":
        return f"{round(value)} bps"
    return f"{100 * value:.6f} %" if unit == "share" else str(math.floor(value))
