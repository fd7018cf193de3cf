"""The rows of the table of `transient`: one for each cell and step."""

from __future__ import annotations

import numpy as np

from thalweg.experiments.studies.runner.result import Row
from thalweg.experiments.studies.transient.fit import CLASSES, LEAST_QUALITY
from thalweg.experiments.studies.transient.measure import Measured, ranked
from thalweg.experiments.studies.transient.parameters import Cell
from thalweg.judging.statistics.quantiles import percentile


def row(cell: Cell, step: str, measured: Measured) -> Row:
    """One row of the table.

    Quantiles are those of verdicts (`percentile`), here as in the checks. Statistics of areas and times count a
    run that did not converge as infinite (None in JSON); those of over- and undershoot, `lost` and `level` take it
    with what was observed; the settled gap is of those that converged. Damping ratio and natural frequency are
    those of the trials that have a damping class, the quality that of all.
    """
    reactions, fit = measured.reactions, measured.fit
    area, reaction = np.sort(ranked(reactions)), np.sort(reactions.reaction_s.astype(np.float64))
    net = np.sort(np.where(reactions.converged, reactions.net, np.inf).astype(np.float64))
    classes = fit.classes
    known, fits = fit.quality >= 0, fit.quality >= LEAST_QUALITY
    values: dict[str, str | float | int | None] = {
        "buffer": cell.buffer,
        "controller": cell.controller,
        "step": step,
        "n": len(area),
        "converged": int(reactions.converged.sum()),
        "area_median": percentile(area, 0.5),
        "area_p95": percentile(area, 0.95),
        "overshoot": float(np.median(reactions.overshoot)),
        "undershoot": float(np.median(reactions.undershoot)),
        "settled": float(np.median(reactions.settled[reactions.converged])) if reactions.converged.any() else None,
        "net_median": percentile(net, 0.5),
        "lost_s": float(np.median(reactions.lost)),
        "reaction_median_s": percentile(reaction, 0.5),
        "reaction_p95_s": percentile(reaction, 0.95),
        "level": float(np.median(reactions.level)),
        "damping_ratio": float(np.median(fit.damping[fits])) if fits.any() else None,
        "natural_frequency": float(np.median(fit.frequency[fits])) if fits.any() else None,
        "fit_quality": float(np.median(fit.quality[known])) if known.any() else None,
    }
    values |= {name.replace(" ", "_").replace("-", "_"): classes.count(name) for name in CLASSES}
    coded = measured.as_coded
    known_coded = None if coded is None else coded.area[~np.isnan(coded.area)]
    values["as_coded_median"] = (
        float(np.median(known_coded)) if known_coded is not None and len(known_coded) else None
    )
    values["as_coded_converged"] = None if coded is None else int(coded.converged.sum())
    return values
