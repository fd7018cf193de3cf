"""Figures: the time series of trials, the distribution of a scenario's outcomes, and results side by side."""

from thalweg.pages.figures.comparison import plot_comparison
from thalweg.pages.figures.distribution import plot_distribution
from thalweg.pages.figures.figure import FORMATS, Chart, Figure, save
from thalweg.pages.figures.trial import PANELS, plot_trial, plot_trials

__all__ = [
    "FORMATS",
    "PANELS",
    "Chart",
    "Figure",
    "plot_comparison",
    "plot_distribution",
    "plot_trial",
    "plot_trials",
    "save",
]
