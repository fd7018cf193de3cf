"""`thalweg study laws`: what the standards imply, held by measurement."""

from thalweg.cli.study.command import command
from thalweg.studies.laws.study import STUDY

laws = command(STUDY)
