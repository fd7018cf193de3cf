"""What a dossier finds: judged numbers by criterion and environment, the worst of them, and its last paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from thalweg.experiments.dossier.judge import Judgement, Results, judge
from thalweg.experiments.dossier.limits import amount
from thalweg.experiments.dossier.parameters import Parameters, cell_name
from thalweg.experiments.dossier.sections import CRITERIA, ENVIRONMENTS, Section
from thalweg.experiments.dossier.settings.player import STANDARDS, Player
from thalweg.judging.measures import Measure
from thalweg.judging.statistics.claims import FAILS, HOLDS, UNDECIDED, Answer
from thalweg.judging.statistics.interval import CONFIDENCE, Interval
from thalweg.judging.statistics.quantiles import median

NAMES = {"reno": "Reno", "cubic": "CUBIC"}
"""The standards, as sentences name them."""
WORST = 3
"""How many findings the first screen has."""


def limit_text(value: float, number: Measure) -> str:
    """A limit with its direction: `at most 15 ms`."""
    return f"{'at most' if number.better == 'lower' else 'at least'} {amount(value, number)}"


def with_interval(interval: Interval, number: Measure) -> str:
    """A median with its interval of 95 %."""
    shown, low, high = (amount(value, number) for value in (interval.value, interval.low, interval.high))
    return shown if not interval.is_bounded or low == high else f"{shown} ({low} to {high})"


@dataclass(frozen=True)
class Findings:
    """The findings of a dossier."""

    parameters: Parameters
    played: Results

    @cached_property
    def judged(self) -> list[Judgement]:
        """Every number of the candidate."""
        return self._of(self.parameters.candidate)

    @cached_property
    def also(self) -> list[Judgement]:
        """Every number of the other implementations."""
        return [judged for player in self.parameters.others for judged in self._of(player)]

    def of_candidate(self, other: Judgement) -> str:
        """The median of the candidate where another implementation has a number."""
        found = (one for one in self.judged if (one.setting, one.question) == (other.setting, other.question))
        return next((amount(one.interval.value, one.number) for one in found), "-")

    def _of(self, player: Player) -> list[Judgement]:
        of = self.parameters
        return list(judge(of.settings, self.played, player, of.bounds, of.comparisons))

    @property
    def worst(self) -> Sequence[Judgement]:
        """The worst number of each of the three worst settings: beyond the limit, and then undecided.

        None where all numbers are within their limits: what is within is not a finding.
        """
        found = [one for one in self.judged if one.is_beyond or one.is_undecided]
        by_setting: dict[str, Judgement] = {}
        for one in sorted(found, key=lambda one: (not one.is_beyond, -one.severity)):
            by_setting.setdefault(one.setting.name, one)
        return list(by_setting.values())[:WORST]

    @property
    def no_finding(self) -> str:
        """What stands in place of the worst findings where there are none."""
        return "No number is beyond its limit." if self.judged else "Nothing was measured."

    @property
    def title(self) -> str:
        """The title of the page and of the Markdown file."""
        return f"{self.parameters.candidate.title}: a dossier for RFC 9743"

    def of(self, criterion: str) -> list[Judgement]:
        """The judgements of a criterion."""
        return [one for one in self.judged if one.question.criterion == criterion]

    def by_environment(self, criterion: str) -> dict[str, list[Judgement]]:
        """The judgements of a criterion by the section of their environment, in the order of the RFC."""
        of = self.of(criterion)
        found = {number: [one for one in of if one.setting.environment == number] for number in ENVIRONMENTS}
        return {number: judged for number, judged in found.items() if judged}

    def limits(self) -> Iterator[tuple[str, str, str, str]]:
        """For each number that was judged: its title, its meaning, its limit in words, and why."""
        for name, number in {one.number.name: one.number for one in self.judged}.items():
            limit = self.parameters.bounds[name]
            yield number.heading, number.meaning, limit.words(number), limit.reason

    def count(self) -> dict[Answer, int]:
        """How many limits have each answer."""
        answers = [one.answer for one in self.judged]
        return {answer: answers.count(answer) for answer in (FAILS, HOLDS, UNDECIDED)}

    @property
    def strong(self) -> list[Section]:
        """The sections with a MUST or SHOULD that experiments can answer."""
        every = [*CRITERIA.values(), *ENVIRONMENTS.values()]
        return [section for section in every if section.strength != "advice" and section.number not in _AUTHOR]

    @property
    def answered(self) -> list[Section]:
        """The criteria with evidence."""
        with_evidence = {
            number for one in self.judged for number in (one.question.criterion, one.setting.environment)
        }
        return [section for section in self.strong if section.number in with_evidence]

    @property
    def differing(self) -> int:
        """How many comparisons with a standard tell a difference."""
        return sum(bool(differs) for one in self.judged for differs in one.differs)

    @property
    def chance(self) -> float:
        """How many comparisons of this dossier say something by chance, on average."""
        return 1 - CONFIDENCE

    def unsafe(self) -> list[tuple[Section, list[Judgement]]]:
        """The environments in which something is beyond its limit."""
        found = []
        for section in ENVIRONMENTS.values():
            beyond = [one for one in self.judged if one.setting.environment == section.number and one.is_beyond]
            if beyond:
                found.append((section, beyond))
        return found

    def paragraph(self) -> str:
        """A draft of the text that RFC 9743 section 3.2 requires: environments in which it was not found safe."""
        name, places, count = self.parameters.candidate.title, self.unsafe(), self.count()
        few = count[UNDECIDED]
        undecided = f" {few} of {len(self.judged)} numbers are undecided." if few else ""
        if not count[HOLDS] and not places:
            return f"The trials of this dossier are too few to say anything about {name}."
        if not places:
            without = ", ".join(f"Section {number}" for number in self.parameters.not_evaluated)
            return (
                f"In the settings of this dossier, no number of {name} was found beyond its limit.{undecided} "
                f"This does not cover what was not evaluated: {without}."
            )
        parts = []
        for section, beyond in places:
            what = list(dict.fromkeys(one.number.heading for one in beyond))
            title = section.title[0].lower() + section.title[1:]
            parts.append(f"{title} (RFC 9743, Section {section.number}: {', '.join(what)})")
        return (
            f"{name} was evaluated in simulation against Reno (RFC 9002) and CUBIC (RFC 9438). It exceeded "
            f"limits of the evaluation in these environments: {'; '.join(parts)}. It was not found safe there, "
            f"and its use there is not recommended without further evaluation.{undecided}"
        )


def beyond(judged: Sequence[Judgement]) -> int:
    """How many of these are beyond their limits."""
    return sum(one.is_beyond for one in judged)


_AUTHOR = ("5.3.1", "7.10")
"""Sections that no experiment here answers."""


def sentence(one: Judgement) -> str:
    """What was found, in a sentence.

    It names the candidate's number, the standards' numbers, and whether they differ beyond chance.
    """
    number = one.number
    standards = " and ".join(
        f"{amount(median(values), number)} of {NAMES[name]}"
        for name, values in zip(STANDARDS, one.of_standards, strict=True)
    )
    words = {1: "larger than", -1: "smaller than", 0: "not told apart from"}
    told = {
        words[differs]: [NAMES[name] for name, each in zip(STANDARDS, one.differs, strict=True) if each == differs]
        for differs in dict.fromkeys(one.differs)
    }
    differing = ", ".join(f"{words} {' and '.join(names)}" for words, names in told.items())
    limit = limit_text(median(one.bound), number)
    return (
        f"{number.heading} {amount(one.interval.value, number)}, limit {limit}, against {standards}: {differing}"
    )


def replay(one: Judgement) -> str:
    """The command that plays the worst trial again, from the folder of the dossier."""
    live = " --live" if one.player.is_live else ""
    return f"thalweg run scenarios/{cell_name(one.setting.name, one.player)}.toml --seed {one.worst_seed}{live}"
