"""What a file of another program says, as the page of the lab opens it: sentences, series, and its scenario.

The server of the lab sends it for a file in its folder; `thalweg explain FILE --out FILE.json` writes it for the
page without a server. So whatever the page shows of such a file comes from one reader.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from thalweg import _native
from thalweg.base.errors import RequestError
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.file import FileAccount
from thalweg.experiments.explain.picture import traced
from thalweg.pages.figures import limits

_MOST = 20_000
"""Samples of each series: as many as a page can show of them."""
_PARTS = 500
_SERIES = ("window_bytes", "in_flight_bytes", "latest_rtt_s", "smoothed_rtt_s", "delivery_bps", "pacing_bps")
_DIGITS = 7


def opened(found: FileAccount, name: str) -> dict[str, Any]:
    """The document of a file with this name. Plays the scenario that is like it."""
    sentences = found.sentences()
    scenarios = []
    try:
        scenario = Scenario.from_toml(found.scenario, name)
    except RequestError as error:
        sentences.append(str(error))
    else:
        sentences.append(found.reproduction.sentence())
        trial = scenario.run(1)
        scenarios.append(
            {
                "name": name,
                "title": scenario.title,
                "about": "the scenario that is like it",
                "toml": scenario.toml,
                "seeds": [str(trial.seed)],
                "hashes": [trial.trace_hash],
                "criteria": [],
            }
        )
    return {
        "title": _native.visible(name),
        "version": _native.version(),
        "sentences": [_native.visible(sentence) for sentence in sentences],
        "scenarios": scenarios,
        "measured": _measured(found),
    }


def _measured(found: FileAccount) -> dict[str, Any]:
    """The series of its figure, by the names of the columns of traces; null for what is not known."""
    trace = traced(found)
    end = found.view.duration_s
    held = limits.spans(trace.flows, end, _PARTS)
    lost = _thinned(found.view.lost_s[np.isfinite(found.view.lost_s)])
    flows = trace.flows
    flows = flows[_thinned(np.arange(flows.height))]
    columns = [name for name in _SERIES if flows[name].is_finite().any()]
    return {
        "about": _native.visible(found.sentences()[0]),
        "end_s": end,
        "time_s": flows["time_s"].round(_DIGITS).to_list(),
        "series": {name: _known(flows[name]) for name in columns},
        "lost_s": lost.round(_DIGITS).tolist(),
        "limits": held.select("limit", "time_s", "until_s").rows(),
        "states": [[_native.visible(state), time] for time, state in found.view.states[:_MOST]],
    }


def _thinned(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """As many of some values as a page can show, with the first and the last."""
    if values.size <= _MOST:
        return values
    return values[np.unique(np.linspace(0, values.size - 1, _MOST).astype(np.int64))]


def _known(values: pl.Series) -> list[float | None]:
    return values.round(_DIGITS).fill_nan(None).replace([np.inf, -np.inf], [None, None]).to_list()
