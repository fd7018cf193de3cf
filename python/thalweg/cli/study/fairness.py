"""`thalweg study fairness`: who gets how much of a bottleneck."""

from thalweg.cli.study.command import command
from thalweg.studies.fairness.study import STUDY

fairness = command(STUDY)
