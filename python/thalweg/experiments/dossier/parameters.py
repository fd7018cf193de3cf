"""The parameters of a dossier, and its cells: every setting, played by the candidate and by the standards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from thalweg.base.errors import RequestError, ScenarioError
from thalweg.base.quantity import seconds
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.dossier.judge import BESIDE, comparisons
from thalweg.experiments.dossier.limits import Limit, read_limits
from thalweg.experiments.dossier.sections import ENVIRONMENTS, NOT_EVALUATED
from thalweg.experiments.dossier.settings.catalogue import settings
from thalweg.experiments.dossier.settings.player import MODEL, Player
from thalweg.experiments.dossier.settings.setting import Keys, Profile, Setting, flow, path, scenario
from thalweg.experiments.dossier.statements import Statements, read_statements
from thalweg.experiments.studies.runner.parameters import file_name, option
from thalweg.realtime import LiveScenario

SCOPES = ("general", "controlled")
TRIALS = {"quick": 16, "default": 20, "full": 40}
"""Trials of each setting and player, by profile. So many comparisons need at least 15 to tell chance apart."""
LIVE_TRIALS = 6
"""Trials of each setting in real time: the least with an interval of 95 % for a median."""


def cell_name(setting: str, player: Player) -> str:
    """What files of a setting and a player are called.

    >>> cell_name("alone-wired", Player("cubic:beta=0.8")), cell_name("late", Player("cubic", "./libmine.so"))
    ('alone-wired.cubic.beta.0.8', 'late.cubic-libmine.so')
    """
    return f"{setting}.{file_name(*filter(None, (player.controller, Path(player.stack).name)))}"


@dataclass(frozen=True)
class Cell:
    """A setting and a player."""

    setting: str
    player: Player
    title: str

    def trials(self, trials: int) -> int:
        """How many it has in a dossier with `trials`."""
        return min(trials, LIVE_TRIALS) if self.player.is_live else trials

    @property
    def name(self) -> str:
        """For files."""
        return cell_name(self.setting, self.player)


@dataclass(frozen=True)
class Parameters:
    """What a dossier is about."""

    controller: str = option(
        "", "--controller", "-c", help="The candidate: a name, or a file in Python.", metavar="NAME"
    )
    stack: str = option(
        "",
        "--stack",
        help="The endpoint of the candidate: model, quic, or a library with a stack (./libmine.so).",
        metavar="NAME",
    )
    also: tuple[str, ...] = option(
        (),
        "--also",
        help="Another implementation of the candidate, such as noq:cubic, or with --live kernel:cubic, in the "
        "settings that matter most; may be repeated.",
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
    statements: str = option("", "--statements", help="TOML file with the texts of the author.", metavar="FILE")
    limits: str = option(
        "",
        "--limits",
        help="TOML file with other limits; c4-load has the load bands of C4's authors.",
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Refuses what cannot be. Raises RequestError."""
        if self.quick and self.full:
            raise RequestError("--quick cannot be combined with --full")
        if self.scope not in SCOPES:
            raise RequestError(f"--scope {self.scope!r}: expected one of {', '.join(SCOPES)}")
        twice = [name for name in self.also if Player(name) in (self.candidate, *BESIDE)]
        if twice:
            raise RequestError(f"--also {twice[0]}: it is already compared, as the candidate or as a standard")
        assert self.bounds
        assert self.written
        if self.candidate.is_live:
            raise RequestError(
                f"--controller {self.controller}: expected a controller that runs in virtual time; kernel "
                "controllers are added with --also kernel:cubic"
            )
        for flag, player in [("--controller", self.candidate), *(("--also", other) for other in self.others)]:
            if player.controller:
                _check(flag, player)

    @property
    def profile(self) -> Profile:
        """Which settings are played."""
        return "quick" if self.quick else "full" if self.full else "default"

    @property
    def trials(self) -> int:
        """Trials of each cell."""
        return TRIALS[self.profile]

    @property
    def candidate(self) -> Player:
        """Who the dossier is about."""
        return Player.on(self.stack, self.controller)

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
        """The settings of the profile that the candidate can play, by name."""
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
                found[number] = f"the profile {self.profile} has no setting for it"
            elif not any(map(self._can_play, own)):
                found[number] = "its settings require modelled endpoints"
        return found

    @cached_property
    def _profile(self) -> list[Setting]:
        return list(settings(self.profile))

    def _can_play(self, setting: Setting) -> bool:
        return self.candidate.grade == MODEL or not setting.model_only

    @cached_property
    def bounds(self) -> Mapping[str, Limit]:
        """The limits. Raises RequestError."""
        return read_limits(self.limits)

    @cached_property
    def written(self) -> Statements:
        """What the author wrote. Raises RequestError."""
        return read_statements(Path(self.statements) if self.statements else None)

    @property
    def comparisons(self) -> int:
        """How many this dossier makes, of the candidate and of other implementations.

        Trials in real time are too few to tell anything from chance, and are not compared.
        """
        of = self.settings.values()
        return comparisons(of, self.bounds) + sum(
            comparisons((setting for setting in of if _repeats(setting, player)), self.bounds)
            for player in self.others
            if not player.is_live
        )

    def live_span_s(self, trials: int) -> float:
        """Seconds that all trials in real time take, at most."""
        return sum(
            cell.trials(trials) * seconds(str(self._keys(cell)["time_limit"]), "time_limit")
            for cell in self.cells()
            if cell.player.is_live
        )

    def cells(self) -> Iterator[Cell]:
        """All cells, setting by setting."""
        for setting in self.settings.values():
            for player in self.players:
                if player in self.others and not _repeats(setting, player):
                    continue
                yield Cell(setting.name, player, f"{setting.title}: {player.title}")

    def scenario(self, cell: Cell) -> Scenario | LiveScenario:
        """The scenario of a cell. Raises RequestError."""
        keys = self._keys(cell) | {"source": f"RFC 9743 section {self.settings[cell.setting].environment}"}
        return cell.player.read(scenario_text(keys), cell.name)

    def _keys(self, cell: Cell) -> Keys:
        return self.settings[cell.setting].keys(cell.player)


def _repeats(setting: Setting, player: Player) -> bool:
    """Whether another implementation plays a setting: in real time there is no trace of packets."""
    return setting.also and not (player.is_live and setting.span)


def _check(flag: str, player: Player) -> None:
    """Refuses a controller that no scenario takes. Raises RequestError."""
    keys = scenario("A download", "1 s", path("1 Mbps", "20 ms"), [flow("main", player)])
    try:
        player.read(scenario_text(keys), flag)
    except ScenarioError as error:
        if stack := re.search(r"(?:\.stack|`stack[^`]*`): (.*)", str(error)):
            raise RequestError(f"--stack {player.stack!r}: {stack[1]}") from None
        reason = str(error).split("controller: ", 1)[-1]
        raise RequestError(f"{flag} {player.controller!r}: {reason}") from None
