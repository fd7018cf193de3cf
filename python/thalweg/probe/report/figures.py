"""Figures of probe results, after the figures of the octoping analysis.

Colours mean the same in all of them: blue is measured, grey what the in-order filter leaves out, vermilion a
spurious firing, green a model.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl

from thalweg.base.quantity import text
from thalweg.pages.chart_data import rows
from thalweg.pages.figures.theme import BLUE, CONFIG, GREEN, GREY, ORANGE, PURPLE, SERIES, SKY, VERMILION, WIDTH
from thalweg.probe.analysis import Analysis, pooled
from thalweg.probe.distribution import Censored, Histogram, censored_cumulative, cumulative
from thalweg.probe.series import Floats
from thalweg.probe.timers import Firings

_MS = 1e3
_HEIGHT = 240
_HALF = (WIDTH - 70) // 2
_DIM = 0.55
_MEASURED = "measured, in-order delivery undone"


def plot_series(analysis: Analysis, timer: str = "octoping") -> alt.VConcatChart:
    """Round-trip times over time, their running minimum, and every spurious firing of a timer."""
    firings = next(firing for firing in analysis.timers if firing.timer.name == timer)
    series, rtt = analysis.series, analysis.series.rtt
    got = series.answered
    points = pl.DataFrame({"time_s": series.sent[got], "value": rtt[got] * _MS, "label": "round-trip time"})
    least = pl.DataFrame(
        {"time_s": series.sent[got], "value": np.minimum.accumulate(rtt[got]) * _MS, "label": "least so far"}
    )
    fired = _firings(analysis, firings)
    lost = pl.DataFrame({"time_s": series.sent[~got], "value": 0.0, "label": "lost"})
    shades = {"round-trip time": BLUE, "least so far": ORANGE}
    shades |= {"timer fires, spuriously": VERMILION} if len(fired) else {}
    shades |= {"lost": PURPLE} if len(lost) else {}
    colour = _label(shades)
    x = alt.X("time_s:Q", title="time (s)", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=12))
    y = alt.Y("value:Q", title="RTT (ms)", axis=alt.Axis(domain=False, ticks=False, tickCount=6))
    base = {"x": x, "y": y, "color": colour}
    layers = alt.layer(
        alt.Chart(rows(points)).mark_point(shape="cross", size=14, strokeWidth=0.8, opacity=_DIM).encode(**base),
        alt.Chart(rows(least)).mark_line(interpolate="step-after", strokeWidth=1.4).encode(**base),
        alt.Chart(rows(fired)).mark_point(filled=True, size=26, opacity=0.95).encode(**base),
        alt.Chart(rows(lost)).mark_tick(thickness=1, size=8, orient="vertical").encode(**base),
    )
    rate = firings.count / max(series.duration_s, 1e-9)
    subtitle = (
        f"{firings.timer.formula}: {firings.count} spurious firings in {text(series.duration_s, 's', 3)}, "
        f"{rate:.2g} per second; {analysis.losses.lost} of {analysis.losses.sent} lost"
    )
    figure: alt.LayerChart = layers.properties(width=WIDTH, height=_HEIGHT)  # type: ignore[assignment]
    return _page(figure, f"{analysis.series.name}: RTT over time", subtitle)


def _firings(analysis: Analysis, firings: Firings) -> pl.DataFrame:
    """When the timer fires: its length after the request was sent."""
    length = firings.length_s[firings.fired]
    return pl.DataFrame(
        {
            "time_s": analysis.series.sent[firings.fired] + length,
            "value": length * _MS,
            "label": "timer fires, spuriously",
        }
    )


def plot_histogram(analysis: Analysis) -> alt.VConcatChart:
    """Round-trip times in bins, on a linear and on a logarithmic scale."""
    return _histograms(analysis.histogram, analysis.filtered_histogram, analysis.series.name)


def plot_pooled(analyses: Sequence[Analysis]) -> alt.VConcatChart:
    """The same of several traces together: all values that the filter keeps, as the blog of C4 draws them."""
    names = ", ".join(analysis.series.name for analysis in analyses)
    return _histograms(*pooled(analyses), f"{names}, pooled")


def _histograms(everything: Histogram, kept: Histogram, name: str) -> alt.VConcatChart:
    edges = everything.edges_s[:-1] * _MS
    width = float(everything.edges_s[1] * _MS)
    counts = [(everything, "all"), (kept, "kept by the in-order filter")]
    table = pl.concat(
        pl.DataFrame({"low": edges, "high": edges + width, "count": each.counts, "label": label})
        for each, label in counts
    )
    colour = _label(dict(zip((label for _, label in counts), (SKY, BLUE), strict=True)))
    domain = alt.Scale(domain=[0, float(edges[-1]) + width], nice=False)
    x = alt.X("low:Q", bin="binned", title="RTT (ms)", scale=domain, axis=alt.Axis(tickCount=8))
    bars = alt.Chart(rows(table), width=_HALF, height=_HEIGHT - 40)
    linear = bars.mark_bar().encode(
        x=x, x2="high:Q", y=alt.Y("count:Q", title="probes in a bin", stack=None), color=colour
    )
    # A bar on a logarithmic scale begins at one half: a count of one stays visible.
    logarithmic = (
        bars.transform_filter("datum.count > 0")
        .transform_calculate(base="0.5")
        .mark_bar()
        .encode(
            x=x,
            x2="high:Q",
            y=alt.Y(
                "count:Q", title=None, stack=None, scale=alt.Scale(type="log", domainMin=0.5), axis=_decades()
            ),
            y2="base:Q",
            color=colour,
        )
    )
    subtitle = f"bins of {width:g} ms; beyond the last: {everything.beyond}, filtered {kept.beyond}"
    pair = alt.hconcat(linear, logarithmic, spacing=20)
    return _page(pair, f"{name}: histogram of RTT, linear and logarithmic", subtitle)


def plot_next(analysis: Analysis) -> alt.VConcatChart:
    """Each round-trip time against the next, with the line of in-order delivery."""
    rtt = analysis.series.rtt * _MS
    first, second = rtt[:-1], rtt[1:]
    known = np.isfinite(first) & np.isfinite(second)
    table = pl.DataFrame({"first": first[known], "second": second[known]})
    top = float(np.max(rtt[np.isfinite(rtt)])) * 1.03
    scale = alt.Scale(domain=[0, top], nice=False)
    points = (
        alt.Chart(rows(table), width=460, height=460)
        .mark_point(shape="cross", size=14, strokeWidth=0.8, opacity=_DIM)
        .encode(
            x=alt.X("first:Q", title="RTT (ms)", scale=scale),
            y=alt.Y("second:Q", title="next RTT (ms)", scale=scale),
        )
    )
    layers: list[alt.Chart] = [points]
    line = analysis.line
    subtitle = "no line of in-order delivery"
    if line.found:
        below = line.below_s * _MS
        ends = pl.DataFrame({"first": [below, top], "second": [0.0, top - below]})
        layers.append(
            alt.Chart(rows(ends)).mark_line(strokeWidth=1.4, color=VERMILION).encode(x="first:Q", y="second:Q")
        )
        subtitle = (
            f"line: next = RTT - {below:.4g} ms; {line.on_line} of the {line.candidates} pairs with an RTT above "
            f"the interval of {analysis.series.interval_s * _MS:.4g} ms lie on it"
        )
    figure: alt.LayerChart = alt.layer(*layers)  # type: ignore[assignment] # no facets here
    return _page(figure, f"{analysis.series.name}: RTT against the next", subtitle)


def plot_cumulative(analyses: Sequence[Analysis]) -> alt.VConcatChart:
    """The distribution of the round-trip times of several traces, over a logarithmic axis."""
    parts = []
    for analysis in analyses:
        values, shares = _thin(*cumulative(analysis.rtt))
        parts.append(pl.DataFrame({"value": values * _MS, "share": shares, "label": analysis.series.name}))
    labels = [analysis.series.name for analysis in analyses]
    chart = (
        alt.Chart(rows(pl.concat(parts)), width=WIDTH, height=_HEIGHT)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X("value:Q", title="RTT (ms)", scale=alt.Scale(type="log", nice=False), axis=_ones_and_twos()),
            y=alt.Y("share:Q", title="probes at or under", axis=alt.Axis(format=".0%")),
            color=_label({label: SERIES[index % len(SERIES)] for index, label in enumerate(labels)}),
            strokeDash=alt.StrokeDash("label:N", legend=None, sort=labels),
        )
    )
    return _page(
        chart,
        "Cumulative distribution of RTT",
        f"{len(analyses)} {'trace' if len(analyses) == 1 else 'traces'}, all answered probes",
    )


def plot_wifi(analysis: Analysis) -> alt.VConcatChart:
    """The fitted model over the data: what is below each delay, and what is above on a logarithmic scale."""
    delays = Censored.join([analysis.up, analysis.down])
    values, shares = censored_cumulative(delays)
    fit = analysis.fits["both"]
    top = float(max(values.max(initial=1e-3), 5e-3))
    grid = np.concatenate([np.linspace(0, min(top, 0.01), 200), np.linspace(min(top, 0.01), top, 400)])
    curves = {_MEASURED: _thin(values, shares)}
    fitted, published = "model, fitted", "model, published scales"
    curves[fitted] = (grid, fit.model.cumulative(grid))
    curves[published] = (grid, analysis.published.model.cumulative(grid))
    parts = []
    for label, (at, share) in curves.items():
        beyond = np.where(share < 1 - 1e-9, 1 - share, np.nan)
        parts.append(pl.DataFrame({"value": at * _MS, "share": share, "beyond": beyond, "label": label}))
    table = pl.concat(parts)
    colour = _label(dict(zip(curves, (BLUE, GREEN, GREY), strict=True)))
    styles: list[list[float]] = [[1, 0], [6, 3], [2, 2]]
    dash = alt.StrokeDash("label:N", title=None, scale=alt.Scale(domain=list(curves), range=styles))
    least = 0.5 / max(len(delays.value), 1)
    left = _curves(
        table,
        color=colour,
        strokeDash=dash,
        x=_delay_axis([0, min(10.0, top * _MS)]),
        y=alt.Y("share:Q", title="delays at or under", axis=alt.Axis(format=".0%")),
    )
    right = _curves(
        table,
        color=colour,
        strokeDash=dash,
        x=_delay_axis([0, top * _MS]),
        y=alt.Y(
            "beyond:Q",
            title="delays beyond",
            scale=alt.Scale(type="log", domain=[least, 1], nice=False),
            axis=alt.Axis(format=".2~%", values=[1e-4, 1e-3, 1e-2, 0.1, 1]),
        ),
    )
    model = fit.model
    subtitle = (
        f"{100 * model.fraction:.2f} % long delays, steps of {text(model.short_s, 's', 3)} and "
        f"{text(model.long_s, 's', 3)}; Kolmogorov-Smirnov distance {fit.distance:.3f}, p at most "
        f"{fit.probability:.2g}"
    )
    pair = alt.hconcat(left, right, spacing=20)
    return _page(pair, f"{analysis.series.name}: the two-component model over the data", subtitle)


def _curves(table: pl.DataFrame, **encodings: object) -> alt.LayerChart:
    """What was measured, in steps, and the models."""
    chart = alt.Chart(rows(table), width=_HALF, height=_HEIGHT)
    steps = chart.transform_filter(alt.datum.label == _MEASURED).mark_line(
        interpolate="step-after", strokeWidth=1.6, clip=True
    )
    models = chart.transform_filter(alt.datum.label != _MEASURED).mark_line(strokeWidth=1.6, clip=True)
    both = (steps.encode(**encodings), models.encode(**encodings))
    layers: alt.LayerChart = alt.layer(*both)  # type: ignore[assignment] # no facets here
    return layers


def _delay_axis(domain: list[float]) -> alt.X:
    return alt.X("value:Q", title="one-way delay above the least (ms)", scale=alt.Scale(domain=domain, nice=False))


def _label(shades: dict[str, str]) -> alt.Color:
    """Colours by label."""
    scale = alt.Scale(domain=list(shades), range=list(shades.values()))
    return alt.Color("label:N", title=None, scale=scale, legend=alt.Legend(labelLimit=300, symbolOpacity=1))


def _page(part: alt.Chart | alt.LayerChart | alt.HConcatChart, title: str, subtitle: str) -> alt.VConcatChart:
    head = alt.TitleParams(title, subtitle=subtitle)
    chart: alt.VConcatChart = alt.vconcat(part, title=head).configure(**CONFIG)
    return chart


def _thin(values: Floats, shares: Floats, most: int = 800) -> tuple[Floats, Floats]:
    """A distribution with fewer steps: evenly over the steps, and all of the last ones."""
    if len(values) <= most:
        return values, shares
    tail = len(values) - most // 4
    before = np.linspace(0, tail, most * 3 // 4).astype(np.int64)
    picked = np.unique(np.concatenate([before, np.arange(tail, len(values))]))
    return values[picked], shares[picked]


def _decades() -> alt.Axis:
    return alt.Axis(values=[1, 10, 100, 1000, 10_000, 100_000], domain=False, ticks=False)


def _ones_and_twos() -> alt.Axis:
    steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    return alt.Axis(values=steps, format="~g")
