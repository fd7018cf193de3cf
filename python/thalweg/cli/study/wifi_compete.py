"""`thalweg study wifi-compete`: early versions of C4 against others on bad Wi-Fi."""

from thalweg.cli.study.command import command
from thalweg.studies.wifi_compete.study import STUDY

wifi_compete = command(STUDY)
