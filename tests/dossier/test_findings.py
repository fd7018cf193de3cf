"""What a dossier says of controllers whose behavior is known: itself, one that ignores everything, and BBRv1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from thalweg.engine.outcome import Trial
from thalweg.engine.scenario import Scenario
from thalweg.engine.scenario_text import scenario_text
from thalweg.experiments.dossier.findings import Findings, limit_text
from thalweg.experiments.dossier.judge import (
    BESIDE,
    Judgement,
    comparisons,
    judge,
    least_trials,
)
from thalweg.experiments.dossier.limits import LIMITS, SETS, Relative
from thalweg.experiments.dossier.numbers import NUMBERS, SEED, measured
from thalweg.experiments.dossier.parameters import TRIALS, Parameters, cell_name
from thalweg.experiments.dossier.replays import with_limits
from thalweg.experiments.dossier.sections import CRITERIA, ENVIRONMENTS, NOT_EVALUATED
from thalweg.experiments.dossier.settings.catalogue import settings
from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Setting
from thalweg.experiments.studies.runner.trials import CellTrials
from thalweg.judging.statistics.interval import Values
from thalweg.trials.machine import ThisMachine

RENO, CUBIC = BESIDE
ALL = {setting.name: setting for setting in settings("full")}
N = TRIALS["quick"]


def play(names: Iterable[str], player: Player, seed: int = 1, n: int = N) -> dict[str, Mapping[str, Values]]:
    """The numbers of these settings."""
    return {name: measured(ALL[name], trials_of(name, player, seed, n)) for name in names}


def trials_of(name: str, player: Player, seed: int = 1, n: int = N) -> CellTrials:
    """The trials of a setting, before they run."""
    scenario = Scenario.from_toml(scenario_text(ALL[name].keys(player)), name)
    return CellTrials(scenario, n, seed, ThisMachine(2), lambda _: None)


def judged(names: list[str], candidate: Player) -> list[Judgement]:
    """What a dossier of these settings says of the candidate."""
    chosen: dict[str, Setting] = {name: ALL[name] for name in names}
    played = {
        (name, player): numbers
        for player in (candidate, *BESIDE)
        for name, numbers in play(chosen, player).items()
    }
    return list(judge(chosen, played, candidate, LIMITS, comparisons(chosen.values(), LIMITS)))


@pytest.mark.soak
def test_cubic_against_cubic_with_other_seeds_has_no_finding() -> None:
    """The null: RFC 9743 asks how new algorithms differ, and this one does not."""
    quick = {setting.name: setting for setting in settings("quick")}
    other = Player("cubic:beta=0.7")  # the same controller by another name, to stand beside itself
    played = {
        (name, player): numbers
        for player, of, seed in ((other, CUBIC, 1001), (CUBIC, CUBIC, 1), (RENO, RENO, 1))
        for name, numbers in play(quick, of, seed).items()
    }
    found = list(judge(quick, played, other, LIMITS, comparisons(quick.values(), LIMITS)))
    assert len(found) * 3 == comparisons(quick.values(), LIMITS)
    assert [(one.setting.name, one.number.name) for one in found if one.is_beyond] == []
    cubic = BESIDE.index(CUBIC)
    assert [(one.setting.name, one.number.name) for one in found if one.differs[cubic]] == []


@pytest.mark.soak
def test_a_standard_is_within_every_limit_and_does_not_differ_from_itself() -> None:
    names = ["alone-buffer-0.5", "beside-cubic-1", "feedback-100-1"]
    for place, standard in enumerate(BESIDE):
        found = judged(names, standard)
        assert {one.answer for one in found} == {"holds"}
        assert {one.differs[place] for one in found} == {0}


def test_bbrv1_loses_many_packets_in_a_shallow_buffer() -> None:
    """The failure that RFC 9743 section 5.1.3 tells: several flows of BBRv1, a buffer below 1.5 BDP."""
    (drops,) = judged(["many-shallow-10-0.2"], Player("bbr1"))
    assert drops.question.criterion == "5.1.3"
    assert drops.is_beyond
    assert drops.differs == (1, 1)
    # Startup and probing at 5/4 of the rate overflow a buffer of a fifth of the BDP: about a fifth of the packets.
    assert 0.1 < drops.interval.value < 0.4


def test_an_unresponsive_sender_ignores_the_loss_of_all_feedback_and_starves_others() -> None:
    cbr = Player("cbr:rate=20Mbps")
    found = judged(["feedback-100-1", "beside-cubic-1"], cbr)
    by_number = {one.number.name: one for one in found}
    sent = by_number["packets-per-rtt"]
    assert (sent.question.criterion, sent.is_beyond) == ("5.2", True)
    # 20 Mbps for 40 ms are 100 kB: 69.4 packets of 1440 B of UDP payload.
    assert sent.interval.value == pytest.approx(20e6 * 0.04 / 8 / 1440, rel=0.01)
    assert by_number["victim-rate"].is_beyond
    assert by_number["starvation"].is_beyond
    # The other flow starts at 3 s of 30 s.
    assert 20 < by_number["starvation"].interval.value < 27


def test_standards_send_less_and_less_without_feedback() -> None:
    """RFC 9002 section 6.2.1: the probe timeout doubles, so the packets of each span become rarer."""
    ends = [1, 5, 30, 120]
    for standard in BESIDE:
        played = play([f"feedback-100-{end}" for end in ends], standard, n=6)
        rates = [numbers["packets-per-rtt"] for numbers in played.values()]
        assert all((after < before).all() for before, after in pairwise(rates))
        # From 30 s to 120 s at most two timeouts pass, each with two probes.
        packets = rates[-1] * 90 / 0.04
        assert (packets >= 1).all()
        assert (packets <= 4).all()


def test_the_spacing_without_feedback_is_the_last_doubling_of_the_probe_timeout() -> None:
    """RFC 9002 section 6.2.1: timeouts at p (2^n - 1) after the last packet, so the waits are p, 2 p, 4 p, ..."""
    for standard in BESIDE:
        trials = trials_of("feedback-100-30", standard, n=1)
        spacing = measured(ALL["feedback-100-30"], trials)["spacing"]
        traced = trials.scenario.run(1, trace=True)
        assert isinstance(traced, Trial)
        assert traced.trace
        sent = traced.trace.packets.filter(pl.col("event") == "sent")
        instants = np.unique(sent.filter(pl.col("time_s") > 5.5)["time_s"].to_numpy())
        waits = np.diff(instants)
        assert waits[1:] / waits[:-1] == pytest.approx(2, rel=1e-3)
        # What is left to the end of the trial, at 35 s, is no longer than the wait that it cuts off.
        assert spacing[0] == pytest.approx(max(waits[-1], 35 - instants[-1]))


def test_a_sender_that_stops_has_one_spacing_to_the_end() -> None:
    """RFC 9743 section 5.1.1 allows to stop: the flow fits into the window and is over before the change."""
    setting = replace(ALL["feedback-100-30"], keys=stopping)
    scenario = Scenario.from_toml(scenario_text(setting.keys(CUBIC)), "stops")
    found = measured(setting, CellTrials(scenario, 1, 1, ThisMachine(1), lambda _: None))
    assert (found["packets-per-rtt"][0], found["spacing"][0]) == (0, 30)


def stopping(player: Player) -> Keys:
    """The setting with a download that ends."""
    keys = ALL["feedback-100-30"].keys(player)
    return keys | {"flow": [{"name": "main", **player.keys, "download": "10 kB"}]}


@pytest.mark.parametrize("controller", ["reno", "cubic", "bbr", "noq:cubic"])
def test_every_setting_is_a_scenario_for_every_player(controller: str) -> None:
    parameters = Parameters(controller=controller, full=True)
    assert len(list(parameters.cells())) == len(parameters.settings) * len(parameters.players)
    for cell in parameters.cells():
        parameters.scenario(cell)


def test_environments_without_a_setting_say_why() -> None:
    quick = Parameters(controller="bbr", quick=True).not_evaluated
    assert quick["6.2"] == "the profile quick has no setting for it"
    assert Parameters(controller="bbr").not_evaluated == dict(NOT_EVALUATED)
    stack = Parameters(controller="noq:cubic").not_evaluated
    assert stack == {**NOT_EVALUATED, "7.6": "its settings require modelled endpoints"}


def test_other_limits_change_standings() -> None:
    setting = ALL["alone-wired"]
    played = {
        (setting.name, player): numbers for player in BESIDE for numbers in play([setting.name], player).values()
    }

    def standings(times: float) -> list[str]:
        limits = {**LIMITS, "rate": replace(LIMITS["rate"], relative=Relative(times, 0.0))}
        return [one.answer for one in judge({setting.name: setting}, played, CUBIC, limits, 9)]

    usual, strict = standings(0.75), standings(5.0)
    places = [question.number for question in setting.questions]
    rate = places.index("rate")
    assert (usual[rate], strict[rate]) == ("holds", "fails")
    assert [one for at, one in enumerate(strict) if at != rate] == ["holds", "holds"]


def test_a_candidate_that_gives_way_starves_nobody() -> None:
    """LEDBAT++ starves beside Reno, and that is not harm to others (RFC 9743 section 5.2)."""
    found = {one.number.name: one for one in judged(["beside-reno-4"], Player("ledbat-pp"))}
    assert found["starvation"].answer == "holds"
    assert found["victim-rate"].interval.value > 15e6


def test_a_limit_on_a_share_leaves_room_below_all() -> None:
    drops = LIMITS["drops"]
    # Twice 60 % and 1 % would be 121 %; half of the way from 60 % to 100 % is 80 %.
    bound = drops.bound(NUMBERS["drops"], [np.array([0.6]), np.array([0.1])])
    assert bound.tolist() == pytest.approx([0.8])
    assert drops.bound(NUMBERS["drops"], [np.array([0.01]), np.array([0.02])]).tolist() == pytest.approx([0.05])


def test_the_bands_of_c4_judge_the_load_of_pairs_alone() -> None:
    """draft-huitema-ccwg-c4-test: more than 70 % of the capacity is bad, and so is less than 30 %."""
    setting = ALL["beside-cubic-1"]
    chosen, limits = {setting.name: setting}, {**LIMITS, **SETS["c4-load"]}
    assert comparisons(chosen.values(), limits) - comparisons(chosen.values(), LIMITS) == 2 * 3
    standard = {question.number: np.full(N, 0.5) for question in setting.questions} | {SEED: np.arange(1.0, N + 1)}
    told = []
    for load in (0.29, 0.31, 0.69, 0.71):
        mine = standard | {name: np.full(N, load) for name in SETS["c4-load"]}
        played = {(setting.name, who): standard for who in BESIDE} | {(setting.name, Player("c4")): mine}
        found = judge(chosen, played, Player("c4"), limits, 12)
        told.append([one.number.name for one in found if one.is_beyond])
    assert told == [["least-load"], [], [], ["load"]]


def test_seeds_of_large_sets_are_whole() -> None:
    large = 2**53 + 1
    numbers = play(["feedback-100-1"], CUBIC, seed=large, n=1)["feedback-100-1"]
    assert int(numbers[SEED][0]) == large


def test_too_few_trials_say_so_and_not_that_all_is_well() -> None:
    parameters = Parameters(controller="bbr", quick=True)
    players = (parameters.candidate, *BESIDE)
    played = {
        (name, player): numbers
        for player in players
        for name, numbers in play(["alone-wired"], player, n=1).items()
    }
    paragraph = Findings(parameters, played).paragraph()
    assert paragraph == "The trials of this dossier are too few to say anything about bbr."


def test_the_default_profile_has_a_setting_for_every_section_that_experiments_can_answer() -> None:
    chosen = list(settings("default"))
    criteria = {question.criterion for setting in chosen for question in setting.questions}
    environments = {setting.environment for setting in chosen}
    assert set(CRITERIA) - criteria == {"5.3.1"}
    assert set(ENVIRONMENTS) - environments == set(NOT_EVALUATED)


def test_numbers_of_packets_are_asked_of_settings_with_a_span_and_of_no_others() -> None:
    for setting in settings("full"):
        of_packets = {"packets-per-rtt", "spacing"} & {question.number for question in setting.questions}
        assert bool(setting.span) == bool(of_packets)


def test_a_number_exactly_at_its_limit_is_within_it() -> None:
    candidate, setting = Player("bbr"), ALL["beside-cubic-1"]
    standard = {question.number: np.zeros(N) for question in setting.questions} | {SEED: np.arange(1.0, N + 1)}
    # Twice 0 s and 1 s are 1 s.
    numbers = {**standard, "starvation": np.ones(N)}
    played = {("beside-cubic-1", candidate): numbers} | {("beside-cubic-1", who): standard for who in BESIDE}
    chosen = {"beside-cubic-1": setting}
    (starvation,) = [
        one for one in judge(chosen, played, candidate, LIMITS, 12) if one.number.name == "starvation"
    ]
    assert (starvation.answer, starvation.differs) == ("holds", (1, 1))
    assert starvation.severity == 1.0


def test_the_quick_profile_has_enough_trials_to_tell_a_difference() -> None:
    for profile in ("quick", "default", "full"):
        count = comparisons(settings(profile), LIMITS)
        assert least_trials(count) <= TRIALS[profile]


@pytest.mark.soak
def test_the_worst_findings_are_beyond_or_undecided_and_of_different_settings() -> None:
    parameters = Parameters(controller="bbr1", quick=True)
    names = ["many-shallow-10-0.2", "alone-wired", "beside-cubic-1", "alone-pie"]
    players = (Player("bbr1"), *BESIDE)
    played = {(name, player): numbers for player in players for name, numbers in play(names, player).items()}
    found = Findings(parameters, played)
    assert found.worst[0].setting.name == "many-shallow-10-0.2"
    assert len({one.setting.name for one in found.worst}) == len(found.worst)
    assert all(one.is_beyond for one in found.worst)
    assert {one.setting.name for one in found.worst} < {one.setting.name for one in found.judged}
    few = {key: {name: values[:3] for name, values in numbers.items()} for key, numbers in played.items()}
    assert [one.answer for one in Findings(parameters, few).worst] == ["undecided"] * 3
    within = {key: played[key[0], BESIDE[1]] for key in played}
    assert Findings(parameters, within).worst == []
    assert Findings(parameters, within).no_finding == "No number is beyond its limit."


def test_a_limit_says_its_direction() -> None:
    assert limit_text(6.36, NUMBERS["spacing"]) == "at least 6.36 s"
    assert limit_text(0.0195, NUMBERS["p95-queue-delay"]) == "at most 19.5 ms"
    assert limit_text(0.02, NUMBERS["drops"]) == "at most 2.0 %"


@pytest.mark.soak
def test_no_setting_is_another_one_again() -> None:
    """By trace hash: one flow behind FQ-CoDel is one behind CoDel, and so is a tunnel that has the link alone."""
    seen: dict[str, str] = {}
    for setting in settings("default"):
        scenario = Scenario.from_toml(scenario_text(setting.keys(RENO)), setting.name)
        trial = scenario.run(1)
        # Settings with a span are one trial that is longer and longer, of which each looks at another part.
        assert seen.setdefault(trial.trace_hash, setting.name) == setting.name


def test_a_tunnel_shares_with_what_is_outside() -> None:
    numbers = play(["beside-tunnel"], CUBIC, n=2)["beside-tunnel"]
    # FQ-CoDel halves 20 Mbps between tunnel and outside: two flows of the tunnel have some 5 Mbps each.
    assert (numbers["victim-rate"] < 8e6).all()
    assert (numbers["victim-rate"] > 2e6).all()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "player", "number"),
    [
        ("many-shallow-10-0.2", "bbr1", "drops"),
        ("beside-cubic-1", "cbr:rate=20Mbps", "victim-rate"),
        ("beside-cubic-1", "cbr:rate=20Mbps", "starvation"),
        ("breakers-10-0.2", "cbr:rate=20Mbps", "trips"),
        ("call-screamv2-drop-tail", "cbr:rate=20Mbps", "frozen"),
        ("alone-loss-1", "cbr:rate=20Mbps", "p95-queue-delay"),
    ],
)
def test_the_replay_of_what_is_beyond_its_limit_fails_and_that_of_a_standard_passes(
    name: str, player: str, number: str
) -> None:
    candidate = Player(player)
    (one,) = [found for found in judged([name], candidate) if found.number.name == number]
    assert one.is_beyond
    for played, answer in ((candidate, "fails"), (CUBIC, "holds")):
        toml = scenario_text(ALL[name].keys(played))
        (limited,) = with_limits({cell_name(name, candidate): toml}, [one]).values()
        verdict = Scenario.from_toml(limited, name).trials(1, one.worst_seed).verdict()
        assert verdict.answer == answer
        assert all("limit of" in str(criterion.source) for criterion in verdict.criteria)


def test_a_scenario_within_its_limits_stays_as_it_ran() -> None:
    toml = scenario_text(ALL["alone-wired"].keys(CUBIC))
    assert with_limits({"alone-wired.cubic": toml}, judged(["alone-wired"], CUBIC)) == {"alone-wired.cubic": toml}
