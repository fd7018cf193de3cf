"""A file becomes a scenario that reproduces it, and says what another controller would have made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import thalweg
from pages.explain import writers
from pages.explain.measure import Case
from pages.explain.twins import Guess, guesses, has_best
from thalweg import Scenario
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.experiments.explain import file, reproduction
from thalweg.experiments.explain.file_what_if import doubt, expected, swaps
from thalweg.experiments.explain.picture import picture
from thalweg.experiments.explain.twin import Twin
from thalweg.foreign.inference.limits import limits
from thalweg.foreign.inference.path import path
from thalweg.foreign.reading.view import View, steps


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    case = Case.of("bulk", 7, "cubic")
    file = tmp_path_factory.mktemp("twin") / "x.sqlog"
    file.write_text(writers.quic_go(writers.entries(case.trace, "main")))
    return file


@pytest.fixture(scope="module")
def found(log: Path) -> file.FileAccount:
    """What is said of the log, and of the same transfer with Reno."""
    account = thalweg.explain(log, what_if=["reno"])
    assert isinstance(account, file.FileAccount)
    return account


def test_a_bulk_transfer_becomes_a_scenario_that_reproduces_it(found: file.FileAccount) -> None:
    made = Case.of("bulk", 7, "cubic").made
    scenario = Scenario.from_toml(found.scenario, "x")
    assert scenario.flows[0]["controller"] == "cubic"
    twin = found.twin
    assert twin.best.rate_bps == pytest.approx(made.rate_bps, rel=0.01)
    assert twin.best.buffer_bytes == pytest.approx(made.buffer_bytes, rel=0.05)
    assert found.reproduction.is_close
    assert found.reproduction.scenario.time_s == pytest.approx(found.reproduction.file.time_s, rel=0.03)


def test_with_another_controller_the_scenario_does_not_reproduce_it(found: file.FileAccount) -> None:
    other = replace(
        found, who=replace(found.who, fits=tuple(one for one in found.who.fits if one.controller == "c4"))
    )
    # C4 keeps the queue short: its RTT is 74 ms where that of CUBIC is 126 ms.
    assert not other.reproduction.is_close
    assert other.reproduction.sentence().startswith("The scenario does not reproduce it with c4")


def test_of_controllers_that_fit_alike_the_scenario_has_the_one_whose_twin_is_closest(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlog"
    assert main(["run", "c4/simple-20mbps", "-c", "main=cubic", "-n", "1", "--trace", str(file)]) in {0, 1}
    found = thalweg.explain(file)
    assert {"cubic", "cubic:variant=cuback"} < set(found.who.named)
    assert found.closest == "cubic"
    # Cuback cuts less: its queue is longer, and its RTT a fifth above the one of the file.
    others = [
        replace(found, who=replace(found.who, fits=(one,)))
        for one in found.who.fits
        if one.controller in found.who.named
    ]
    assert min(others, key=lambda one: one.reproduction.distance).closest == "cubic"


def test_the_scenario_says_what_was_inferred_and_what_is_unknown_and_runs(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.toml"
    assert main(["explain", str(log), "--scenario", str(file)]) == 0
    assert "The scenario reproduces it with cubic" in " ".join(capsys.readouterr().out.split())
    text = file.read_text()
    for words in ("The controller is cubic", "Unknown:", "random loss below 1 in", "capacity of 12.11 Mbps"):
        assert words in " ".join(text.split("\n#"))
    assert main(["run", str(file), "-n", "2"]) == 0


@pytest.mark.soak
def test_what_if_plays_the_same_draws_with_each_controller(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(log), "--what-if", "c4,bbr", "--what-if", "cubic:beta=0.8,start=classic"]) == 0
    said = capsys.readouterr().out
    assert "its own" in said
    assert "cubic:beta=0.8,start=classic" in said
    assert main(["explain", str(log), "--what-if", "c4,cubic", "--format", "json"]) == 0
    own, c4 = json.loads(capsys.readouterr().out)["what_if"]
    assert own["is_own"]
    assert own["comparison"] is None
    assert c4["comparison"]["n"] == 39
    low, high = c4["completion_s"]["interval90"]
    assert low <= c4["completion_s"]["median"] <= high


@pytest.mark.soak
def test_a_twin_that_lacks_what_was_on_the_path_says_that_it_is_not_to_be_relied_on(tmp_path: Path) -> None:
    case = Case.of("shared", 3, "cubic")
    file = tmp_path / "x.sqlog"
    file.write_text(writers.quic_go(writers.entries(case.trace, "main")))
    found = thalweg.explain(file, what_if=["reno"])
    assert found.path.others_bps is not None
    # Half of the path is another flow's, in the twin too.
    assert found.doubt == ""
    alone = replace(found.twin, best=replace(found.twin.best, rival=""))
    (own,) = swaps(alone, "cubic", [])
    assert "Do not rely on it: with its own controller the twin takes" in doubt(own, 12.0)


def test_a_twin_amid_jitter_says_that_its_capacity_may_be_too_low(tmp_path: Path) -> None:
    case = Case.of("jitter", 4, "cubic")
    (tmp_path / "x.sqlog").write_text(writers.quic_go(writers.entries(case.trace, "main")))
    found = thalweg.explain(tmp_path / "x.sqlog", what_if=["reno"])
    assert "packets come closer together than the capacity allows" in found.doubt
    assert found.doubt in found.sentences()


def test_a_twin_that_takes_as_long_as_the_file_is_not_doubted(found: file.FileAccount) -> None:
    assert found.doubt == ""


def test_a_page_has_a_table_of_other_controllers_and_a_picture_sentences(found: file.FileAccount) -> None:
    drawn = picture(found, "x", is_page=True)
    (table,) = drawn.tables
    assert [row[0] for row in table.rows] == ["cubic", "reno"]
    assert {len(row) for row in table.rows} == {len(table.headers)}
    assert "With reno" not in " ".join(drawn.spec["title"]["subtitle"])
    said = picture(found, "x", is_page=False)
    assert not said.tables
    assert "With reno, the transfer takes" in " ".join(said.spec["title"]["subtitle"])


def test_each_controller_plays_the_twin_once_whatever_is_asked_of_it(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []

    def counted(view: View, scenario: Scenario) -> reproduction.Reproduction:
        played.append(str(scenario.flows[0]["controller"]))
        return reproduction.reproduction(view, scenario)

    monkeypatch.setattr(file, "reproduction", counted)
    found = thalweg.explain(log, what_if=["c4"])
    assert isinstance(found, file.FileAccount)
    assert found.scenario
    assert found.reproduction.is_close
    assert sorted(played) == sorted(set(played))


def test_a_controller_against_itself_is_alike() -> None:
    found = _twin()
    first, again = swaps(found, "cubic", ["cubic:start=hystart"], 7)
    assert first.completion_s.size == 7
    # The default start by its name: another text, the same controller.
    assert again.comparison is not None
    assert again.comparison.answer == "alike"
    assert again.comparison.difference.value == pytest.approx(1, abs=1e-9)


def _twin() -> Twin:
    view = Case.of("bulk", 7, "cubic").packets()
    return Twin.of(view, limits(view, is_explained=True), path(view))


def test_an_unseen_buffer_is_drawn_widely_and_a_seen_one_closely() -> None:
    twin = _twin()
    seen = [one.buffer_bytes for one in twin.draws(39)]
    assert max(seen) < 1.2 * min(seen)
    open_ = replace(twin, path=replace(twin.path, is_buffer_seen=False))
    unseen = [one.buffer_bytes for one in open_.draws(39)]
    assert max(unseen) > 2 * min(unseen)
    # What was seen is the least that it can be.
    assert min(unseen) >= (twin.path.buffer_bytes or 0)
    assert open_.draws(39) == open_.draws(39)


def test_the_interval_of_39_draws_leaves_one_out_on_each_side() -> None:
    found = expected(np.arange(39.0))
    # (39 + 1) * 5 % = 2: the second from either end.
    assert (found.low, found.value, found.high) == (1, 19, 37)


@pytest.mark.soak
def test_what_is_said_of_other_controllers_comes_true() -> None:
    found = guesses("bulk", 1)
    assert len(found) == 4
    assert np.median([abs(one.error) for one in found]) < 0.03
    assert sum(one.covered >= 0.5 for one in found) >= 2
    assert has_best(found)
    one = Guess(losses=3, said_s=2.0, known_s=1.2, low_s=1.9, high_s=2.1, took_s=(1.0, 1.0, 2.0))
    assert one.error == pytest.approx(1)
    assert one.known_error == pytest.approx(0.2)
    assert one.covered == pytest.approx(1 / 3)
    # 1 against the median of 1 and 2, and 2 against that of 1 and 1.
    assert one.spread == pytest.approx([-1 / 3, -1 / 3, 1])


def _view(count: int, rtt: float | None = 0.1) -> View:
    sent = np.linspace(0, 1, count) if count > 1 else np.zeros(count)
    return View(
        "x", "sender", "made", 2.0, sent_s=sent, sent_bytes=np.full(count, 1200), lost_s=np.full(count, np.nan),
        acked_s=sent + 0.1, acked_by=np.arange(count), rtt=steps([0.1], [rtt]) if rtt else steps([], []),
    )  # fmt: skip


@pytest.mark.parametrize(
    "view", [_view(1), _view(0), _view(50, None), replace(_view(50), sent_bytes=np.zeros(50, int))]
)
def test_a_file_that_says_too_little_is_refused_in_one_line(view: View) -> None:
    with pytest.raises(RequestError, match="x: it cannot become a scenario") as refused:
        Twin.of(view, None, path(view))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["application", "call", "receiver", "pauses", "policer", "chunks", "outage"])
def test_what_else_limits_a_sender_becomes_a_scenario_too(kind: str) -> None:
    view = Case.of(kind, 9001).packets()
    twin = Twin.of(view, limits(view), path(view))
    trials = [Scenario.from_toml(twin.scenario(draw, "cubic"), "x").run(1) for draw in twin.draws(3)]
    assert all(trial.flows["finished"][0] for trial in trials)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--what-if", "nobody"], "--what-if nobody: unknown controller"),
        (["--what-if", "c4,,bbr"], "--what-if: a name is empty"),
        (["--scenario", "x.txt"], "accepted: a name that ends in .toml"),
        (["--scenario", "nowhere/x.toml"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_played_or_written_is_refused(
    log: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(log), *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
