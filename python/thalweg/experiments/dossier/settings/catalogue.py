"""All settings of a dossier."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings import alone, beside, calls, feedback, many, short_flows
from thalweg.experiments.dossier.settings.setting import PROFILES, Profile, Setting


def settings(profile: Profile) -> Iterator[Setting]:
    """The settings of a profile, in the order in which they run.

    >>> names = [setting.name for setting in settings("full")]
    >>> len(names) == len(set(names))
    True
    """
    for module in (alone, many, feedback, beside, short_flows, calls):
        for setting in module.settings():
            if PROFILES.index(setting.profile) <= PROFILES.index(profile):
                yield setting
