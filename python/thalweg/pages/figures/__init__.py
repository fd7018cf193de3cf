"""Figures: the time series of trials, and the distribution of a scenario's outcomes."""

from thalweg.pages.figures.distribution import plot_distribution
from thalweg.pages.figures.figure import FORMATS, Chart, Figure, save
from thalweg.pages.figures.trial import PANELS, plot_trial, plot_trials

__all__ = ["FORMATS", "PANELS", "Chart", "Figure", "plot_distribution", "plot_trial", "plot_trials", "save"]
