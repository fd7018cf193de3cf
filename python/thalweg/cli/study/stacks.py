"""`thalweg study stacks`: the modelled endpoint against a real QUIC stack."""

from thalweg.cli.study.command import command
from thalweg.studies.stacks.study import STUDY

stacks = command(STUDY)
