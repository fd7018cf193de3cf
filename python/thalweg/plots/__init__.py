"""Figures: the time series of a trial, and the distribution of a scenario's outcomes."""

from thalweg.plots.distribution import plot_distribution
from thalweg.plots.output import FORMATS, save
from thalweg.plots.theme import Chart
from thalweg.plots.trial import plot_trial

__all__ = ["FORMATS", "Chart", "plot_distribution", "plot_trial", "save"]
