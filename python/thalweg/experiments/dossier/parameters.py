"""The parameters of a dossier, and its cells: every setting, played by the candidate and by the standards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.dossier.judge import BESIDE, comparisons
from thalweg.experiments.dossier.limits import Limit, read_limits
from thalweg.experiments.dossier.sections import ENVIRONMENTS, NOT_EVALUATED
from thalweg.experiments.dossier.settings.catalogue import settings
from thalweg.experiments.dossier.settings.player import MODEL, Player
from thalweg.experiments.dossier.settings.setting import Profile, Setting, flow, path, scenario
from thalweg.experiments.dossier.statements import Statements, read_statements
from thalweg.experiments.studies.runner.parameters import option

SCOPES = ("general", "controlled")
TRIALS = {"quick": 16, "default": 20, "full": 40}
"""Of each setting and player, by profile. Fewer than 15 cannot be told from chance with so many comparisons."""


def file_name(setting: str, player: Player) -> str:
    """What files of a setting and a player are called.

    >>> file_name("alone-wired", Player("cubic:beta=0.8"))
    'alone-wired.cubic-beta-0.8'
    """
    return f"{setting}.{re.sub('[^A-Za-z0-9.]+', '-', player.controller).strip('-.')}"


@dataclass(frozen=True)
class Cell:
    """A setting and a player."""

    setting: str
    player: Player
    title: str

    @property
    def name(self) -> str:
        """For files."""
        return file_name(self.setting, self.player)


@dataclass(frozen=True)
class Parameters:
    """What a dossier is about."""

    controller: str = option(
        "", "--controller", "-c", help="The candidate: a name, or a file in Python.", metavar="NAME"
    )
    also: tuple[str, ...] = option(
        (),
        "--also",
        help="Another implementation of the candidate, such as noq:cubic, in the settings that matter most; "
        "may be repeated.",
        metavar="NAME",
    )
    quick: bool = option(False, "--quick", help="A quarter of the settings, for CI.")
    full: bool = option(False, "--full", help="All settings, with 1 Gbps and 1000 flows.")
    scope: str = option(
        "general",
        "--scope",
        help="Use in general, or in controlled environments (RFC 9743 section 4).",
        metavar="NAME",
    )
    statements: str = option(
        "", "--statements", help="TOML file with what the author has to write.", metavar="FILE"
    )
    limits: str = option("", "--limits", help="TOML file with other limits than ours.", metavar="FILE")

    def __post_init__(self) -> None:
        """Refuses what cannot be. Raises RequestError."""
        if self.quick and self.full:
            raise RequestError("--quick cannot be combined with --full")
        if self.scope not in SCOPES:
            raise RequestError(f"--scope {self.scope!r}: expected one of {', '.join(SCOPES)}")
        names = [player.controller for player in self.players]
        if len({file_name("", player) for player in self.players}) < len(names):
            raise RequestError(f"{', '.join(names)}: two of these controllers have the same name in files")
        twice = [name for name in self.also if Player(name) in (self.candidate, *BESIDE)]
        if twice:
            raise RequestError(f"--also {twice[0]}: it plays already, as the candidate or as a standard")
        assert self.bounds
        assert self.written
        for flag, player in [("--controller", self.candidate), *(("--also", other) for other in self.others)]:
            if player.controller:
                _check(flag, player)

    @property
    def profile(self) -> Profile:
        """Which settings are played."""
        return "quick" if self.quick else "full" if self.full else "default"

    @property
    def trials(self) -> int:
        """Of each cell."""
        return TRIALS[self.profile]

    @property
    def candidate(self) -> Player:
        """Who the dossier is about."""
        return Player(self.controller)

    @property
    def others(self) -> list[Player]:
        """Other implementations of the candidate."""
        return [Player(name) for name in self.also]

    @property
    def players(self) -> list[Player]:
        """All of them, each once."""
        return list(dict.fromkeys([self.candidate, *BESIDE, *self.others]))

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Those of the profile that the candidate can play, by name."""
        return {setting.name: setting for setting in self._profile if self._can_play(setting)}

    @property
    def not_evaluated(self) -> dict[str, str]:
        """Environments without a setting, and why."""
        found = {}
        for number in ENVIRONMENTS:
            own = [setting for setting in self._profile if setting.environment == number]
            if number in NOT_EVALUATED:
                found[number] = NOT_EVALUATED[number]
            elif not own:
                found[number] = f"the profile {self.profile} has no setting of it"
            elif not any(map(self._can_play, own)):
                found[number] = "its settings require the endpoints of the model"
        return found

    @cached_property
    def _profile(self) -> list[Setting]:
        return list(settings(self.profile))

    def _can_play(self, setting: Setting) -> bool:
        return self.candidate.grade == MODEL or not setting.model_only

    @cached_property
    def bounds(self) -> Mapping[str, Limit]:
        """The limits. Raises RequestError."""
        return read_limits(Path(self.limits) if self.limits else None)

    @cached_property
    def written(self) -> Statements:
        """What the author wrote. Raises RequestError."""
        return read_statements(Path(self.statements) if self.statements else None)

    @property
    def comparisons(self) -> int:
        """How many this dossier makes, of the candidate and of other implementations."""
        repeated = [setting for setting in self.settings.values() if setting.also]
        return comparisons(self.settings.values()) + len(self.others) * comparisons(repeated)

    def cells(self) -> Iterator[Cell]:
        """All cells, setting by setting."""
        for setting in self.settings.values():
            for player in self.players:
                if player in self.others and not setting.also:
                    continue
                yield Cell(setting.name, player, f"{setting.title}: {player.controller}")

    def scenario(self, cell: Cell) -> Scenario:
        """Of a cell. Raises RequestError."""
        setting = self.settings[cell.setting]
        keys = {**setting.keys(cell.player)}
        keys["source"] = f"RFC 9743 section {setting.environment}"
        return Scenario.from_toml(scenario_text(keys), cell.name)


def _check(flag: str, player: Player) -> None:
    """Refuses a controller that no scenario takes. Raises RequestError."""
    keys = scenario("A download", "1 s", path("1 Mbps", "20 ms"), [flow("main", player)])
    try:
        Scenario.from_toml(scenario_text(keys), flag)
    except ScenarioError as error:
        reason = str(error).split("controller: ", 1)[-1]
        raise RequestError(f"{flag} {player.controller!r}: {reason}") from None
