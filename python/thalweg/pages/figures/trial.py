"""The figure of a trial, or of several set side by side: panels over one time axis.

The states of the controllers, window and bytes in flight, round-trip times, rates against the capacity of the
links, queues with drops as marks, ECN marks, packets that links held back, and the frames of calls against their
deadlines: what `looks.json` says about panels holds for the lab too. With one flow, colour tells the series of a
panel apart; with several, colour is the flow and the dash is the series.
Series are thinned before they are drawn; peaks stay. Where a value is unknown, such as the pacing rate of a flow
that is not paced, there is no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from thalweg.base.errors import RequestError, did_you_mean
from thalweg.base.quantity import text
from thalweg.engine.outcome import Trial
from thalweg.engine.selection import only
from thalweg.engine.trace import Trace
from thalweg.judging.verdict import without_offset
from thalweg.pages.figures import frames, limits, states
from thalweg.pages.figures.figure import Figure
from thalweg.pages.figures.panel import RATE, RTT, TITLES, WINDOW, Flows, Panel, link_called, moments
from thalweg.pages.figures.queues import held_back, marked, overlaid, queues
from thalweg.pages.figures.spec import AXIS_EXTENT, Spec, colour, span, table, time, titled, tooltip, word
from thalweg.pages.figures.story import story
from thalweg.pages.figures.theme import LOOKS, WIDTH, hue

_LIMITS = "What limits the sender"
_FREEZES = "When the picture was frozen"
_OF_CALLS = ("encoder", "freezes", "frames")
PANELS = ("states", "limits", *(name for name in TITLES if name not in ("states", *_OF_CALLS)), *_OF_CALLS)
"""The possible panels of a trial, in order."""
_STRIP = 16
"""Height of the states of one flow; their names stand where other panels have a title."""
_STRIP_OF_TWO = 26
"""The same with a name on two lines, of a controller and of its stream, where it does not fit on one."""
_FITS = 11
"""Letters of a name next to a strip."""
_MOST_NOTED = 8

_Maker = Callable[[], Sequence[Panel | None]]


def plot_trial(
    trial: Trial,
    title: str | None = None,
    buckets: int = 600,
    panels: Sequence[str] = PANELS,
    labels: Mapping[str, str] | None = None,
    flows: Sequence[str] | None = None,
) -> Figure:
    """Draws the time series of a trial, thinned to `buckets` of time.

    `panels` are some of `PANELS`; `labels` rename flows; `flows` names those to draw, if not all. Raises
    RequestError without a trace, and for an unknown panel or flow.
    """
    trial = only(trial, flows)
    trace = _trace(trial)
    head = title or trial.outcomes.scenario.title
    notes = _link_notes(trace) if "queue" in panels else {}
    said = story(trial)
    drawn = _draw(trace, _called(trial, labels), panels, buckets, _moments(trial))
    return _page(drawn, head, [_subtitle(trial, labels), *said], notes)


def plot_trials(
    trials: Mapping[str, Trial],
    title: str | None = None,
    buckets: int = 600,
    panels: Sequence[str] = PANELS,
    flows: Sequence[str] | None = None,
) -> Figure:
    """Draws trials over each other, by their labels: of several controllers, or of one with several seeds.

    Capacities and held packets are drawn for the first trial. Raises
    RequestError as `plot_trial` does.

    >>> from thalweg import Scenario
    >>> runs = {
    ...     name: Scenario.load("c4/simple-20mbps", controllers={"main": name}).run(trace=True)
    ...     for name in ("c4", "cubic")
    ... }
    >>> plot_trials(runs, panels=["rtt"]).spec["vconcat"][0]["encoding"]["color"]["scale"]["domain"]
    ['c4', 'cubic']
    """
    if not trials:
        raise RequestError("no trials: at least 1 is needed")
    trials = {label: only(trial, flows) for label, trial in trials.items()}
    first = next(iter(trials.values()))
    called: dict[str, str] = {}
    traces = {label: _trace(trial) for label, trial in trials.items()}
    parts: list[Trace] = []
    for label, trial in trials.items():
        names = [sender for sender, _ in _senders(trial)]
        called |= {f"{label}: {name}": label if len(names) == 1 else f"{label}: {name}" for name in names}
        # Frames are of the flow, also where both of its ends send.
        flows_ = _flows(trial)
        called |= {f"{label}: {flow}": label for flow in flows_ if len(flows_) == 1}
        parts.append(_prefixed(traces[label], label))
    own = parts[0]
    joined = replace(
        own,
        flows=pl.concat([part.flows for part in parts], how="diagonal_relaxed"),
        frames=pl.concat([part.frames for part in parts], how="diagonal_relaxed"),
    )
    said = [f"{label}: {' '.join(story(trial))}" for label, trial in trials.items()]
    subtitle = f"seed {' and '.join(dict.fromkeys(str(trial.seed) for trial in trials.values()))}"
    if len(trials) > 1 and own.held.height and "held" in panels:
        subtitle += f"; held packets of {next(iter(trials))}"
    drawn = _draw(joined, called, panels, buckets, [], traces)
    return _page(
        drawn,
        title or first.outcomes.scenario.title,
        [subtitle, *said],
        _link_notes(own) if "queue" in panels else {},
    )


def plot_trace(
    trace: Trace,
    title: str,
    said: Sequence[str],
    called: Mapping[str, str],
    panels: Sequence[str],
    buckets: int = 600,
) -> Figure:
    """Draws series that no trial of ours has made, with sentences above; as `plot_trial` does."""
    return _page(_draw(trace, called, panels, buckets, []), title, list(said), {})


def _trace(trial: Trial) -> Trace:
    if trial.trace is None:
        raise RequestError("this trial has no trace; run it with trace=True")
    return trial.trace


def _prefixed(trace: Trace, label: str) -> Trace:
    name = pl.format("{}: {}", pl.lit(label), "flow").alias("flow")
    return replace(trace, flows=trace.flows.with_columns(name), frames=trace.frames.with_columns(name))


def _flows(trial: Trial) -> list[str]:
    names: list[str] = trial.flows["flow"].unique(maintain_order=True).to_list()
    return names


def _called(trial: Trial, labels: Mapping[str, str] | None) -> dict[str, str]:
    """What the legend calls each flow: its label, or its name and its controller."""
    rows = trial.flows.unique("flow", maintain_order=True).iter_rows(named=True)
    own = {str(row["flow"]): f"{row['flow']} ({row['controller']})" for row in rows}
    own |= {flow: label for flow, label in (labels or {}).items() if flow in own}
    return {sender: own[flow] + sender.removeprefix(flow).replace("/", ", ") for sender, flow in _senders(trial)}


def _senders(trial: Trial) -> Iterator[tuple[str, str]]:
    """What a trace calls the senders of each flow, with the flow: a call whose media both ends send has two."""
    known = set(_trace(trial).flows["flow"].unique())
    for flow in _flows(trial):
        both = [f"{flow}/{end}" for end in ("client", "server")]
        yield from ((sender, flow) for sender in (both if known.issuperset(both) else [flow]))


def _subtitle(trial: Trial, labels: Mapping[str, str] | None) -> str:
    flows = without_offset(trial.flows, trial.outcomes.scenario.starts_s).unique("flow", maintain_order=True)
    parts = []
    for row in flows.iter_rows(named=True):
        done = f"completes in {text(row['completion_s'], 's')}" if row["finished"] else "does not finish"
        parts.append(f"{row['flow']}: {(labels or {}).get(row['flow'], row['controller'])}, {done}")
    shown = parts[:4] + ([f"and {len(parts) - 4} more"] if len(parts) > 4 else [])
    return " · ".join([f"seed {trial.seed}", *shown])


def _moments(trial: Trial) -> list[tuple[str, float]]:
    """When the only flow of a trial was complete and closed, and its least completion time."""
    if trial.flows["flow"].n_unique() != 1:
        return []
    row = trial.flows.row(0, named=True)
    start = float(row.get("start_s") or 0.0)
    floor = trial.outcomes.scenario.floor_s
    found = [("floor", start + floor)] if floor is not None else []
    if row["finished"] and row["completion_s"] is not None:
        found.append(("completed", start + float(row["completion_s"])))
    if row.get("closed_s") is not None:
        found.append(("closed", float(row["closed_s"])))
    return found


def _draw(
    trace: Trace,
    called: Mapping[str, str],
    wanted: Sequence[str],
    buckets: int,
    marks: list[tuple[str, float]],
    over: Mapping[str, Trace] | None = None,
) -> tuple[list[Panel], float, list[str], list[str]]:
    """The panels in their order, when they end, and which states and moments are on them.

    `over` are the trials that are drawn over each other, if there are several.
    """
    end = max([_end(trace), *(time for name, time in marks if name != "floor")])
    of_states = states.spans(trace.flows)
    of_limits = limits.spans(trace.flows, end, buckets // 2, calls=trace.frames.height > 0)
    flows = Flows(trace, called, buckets)
    makers: dict[str, _Maker] = {
        "window": lambda: [_with_moments(flows.lines(WINDOW), marks, end)],
        "rtt": lambda: [flows.lines(RTT)],
        "rate": lambda: [flows.lines(RATE)],
        "queue": lambda: [
            overlaid(over, flows.labels, end, buckets)
            if over is not None and len(over) > 1
            else queues(trace, end, buckets)
        ],
        "marks": lambda: [marked(trace, buckets)],
        "held": lambda: [held_back(trace, end, buckets)],
        "encoder": lambda: [frames.encoders(trace, called, buckets)],
        "freezes": lambda: [_freezes(trace.frames, called)],
        "frames": lambda: frames.frames(trace.frames, called, buckets),
        "states": lambda: [_states(of_states, called)] if of_states.height else [],
        "limits": lambda: [_limits(of_limits, called)] if of_limits.height else [],
    }
    for name in wanted:
        if name not in makers:
            raise RequestError(f"a trial has no panel {name!r}{did_you_mean(name, PANELS)}")
    panels = [panel for name in PANELS if name in wanted for panel in makers[name]() if panel is not None]
    if not panels:
        raise RequestError(f"this trial has nothing to draw in {', '.join(wanted)}; accepted: {', '.join(PANELS)}")
    named = of_states["state"].unique(maintain_order=True).to_list() if "states" in wanted else []
    return panels, end, named, [name for name, at in marks if at <= end and "window" in wanted]


def _with_moments(panel: Panel, marks: list[tuple[str, float]], end: float) -> Panel:
    extra = moments(marks, end)
    if not extra:
        return panel
    height = panel.spec["height"]
    line = {name: part for name, part in panel.spec.items() if name != "height"}
    return replace(panel, spec={"height": height, "layer": [line, *extra]})


def _page(
    drawn: tuple[list[Panel], float, list[str], list[str]],
    title: str,
    subtitle: list[str],
    notes: dict[str, str],
) -> Figure:
    panels, end, named, marked = drawn
    placed: list[Spec] = []
    for number, panel in enumerate(panels, start=1):
        spec = {**panel.spec, "width": WIDTH, "name": panel.name}
        x = time(end, last=number == len(panels))
        if "layer" in spec:
            spec["layer"] = [_over_time(layer, x) for layer in spec["layer"]]
        else:
            spec["encoding"] = {"x": x, **spec["encoding"]}
        placed.append(spec)
    spec = {
        "title": {"text": title, "subtitle": subtitle},
        "vconcat": placed,
        "spacing": 8,
        "resolve": {
            "scale": {**dict.fromkeys(("color", "strokeDash", "shape", "size"), "independent"), "x": "shared"}
        },
        "params": span(0, end)[1],
    }
    readings = {"panels": [{"data": panel.name, **panel.reading} for panel in panels if panel.reading]}
    meanings = {name: _MOMENTS[name] for name in marked} | notes
    meanings |= dict(list(states.meanings(named).items())[:_MOST_NOTED])
    return Figure(spec, " ".join([f"{title}.", *subtitle]), meanings, readings)


_MOMENTS = {
    "floor": "the least completion time that the path allows",
    "completed": "the last byte has arrived",
    "closed": "both ends know that the connection is over",
}


def _over_time(layer: Spec, x: Spec) -> Spec:
    encoding = layer.get("encoding", {})
    return layer if "x" in encoding else {**layer, "encoding": {"x": x, **encoding}}


def _end(trace: Trace) -> float:
    ends = [float(series["time_s"].to_numpy().max()) for series in (trace.flows, trace.links) if series.height]
    return max(ends, default=1.0)


def _link_notes(trace: Trace) -> dict[str, str]:
    """What the queues of a path are."""
    names = trace.links["link"].unique(maintain_order=True).to_list() if trace.links.height else []
    ways = {"down": "downlink", "up": "uplink"}
    return {
        f"queue, {link_called(name)}": f"how long a packet arriving now waits for the {ways[name]}"
        for name in names
        if name in ways
    }


def _states(of_states: pl.DataFrame, called: Mapping[str, str]) -> Panel:
    names = of_states["state"].unique(maintain_order=True).to_list()
    several = of_states["flow"].n_unique() > 1
    title = TITLES["states"].replace("controller", "controllers") if several else TITLES["states"]
    return _strip("states", "state", of_states, called, title, states.colours(names), states.meanings(names))


def _limits(of_limits: pl.DataFrame, called: Mapping[str, str]) -> Panel:
    names = of_limits["limit"].unique(maintain_order=True).to_list()
    colours = [limits.COLOURS[name] for name in names]
    meanings = {name: limits.MEANINGS[name] for name in names}
    return _strip("limits", "limit", of_limits, called, _LIMITS, colours, meanings)


def _freezes(rows: pl.DataFrame, called: Mapping[str, str]) -> Panel | None:
    """None without freezes, and for one stream: its panel of frames shows them."""
    spans = frames.spans(rows, called)
    if spans["flow"].n_unique() < 2:
        return None
    shade = hue(LOOKS["frames"][frames.FROZEN])
    return _strip("freezes", "fate", spans, {}, _FREEZES, [shade], {})


def _strip(
    panel: str,
    value: str,
    spans: pl.DataFrame,
    called: Mapping[str, str],
    title: str,
    colours: list[str],
    meanings: dict[str, str],
) -> Panel:
    names = spans[value].unique(maintain_order=True).to_list()
    flows: list[str] = spans["flow"].unique(maintain_order=True).to_list()
    axis: Spec = {
        "minExtent": AXIS_EXTENT,
        "maxExtent": AXIS_EXTENT,
        "domain": False,
        "ticks": False,
        "labelLimit": AXIS_EXTENT + 20,
    }
    height = _STRIP
    if any(len(flow) > _FITS and ": " in flow for flow in flows):
        height = _STRIP_OF_TWO
        axis |= {"labelExpr": "split(datum.label, ': ')"}
    labelled = spans.with_columns(pl.col("flow").replace(dict(called)).alias("called"))
    spec: Spec = {
        "data": table(labelled, panel),
        "height": height * len(flows),
        "mark": {"type": "rect", "clip": True},
        "encoding": {
            "x2": {"field": "until_s"},
            "y": word("flow", sort=flows, axis=axis),
            "color": colour(names, colours, value, symbolType="square", **titled(title)),
            "tooltip": tooltip("called", value, time_s="from (s)", until_s="until (s)"),
        },
    }
    reading: Spec = {"kind": "spans", "by": ["flow"], "value": value, "unit": "", "means": meanings}
    return Panel(panel, spec, reading)
