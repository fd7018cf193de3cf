"""Who plays a suite: all flows that stand for the candidate, named under titles, with the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.catalogue import Suite, find_scenario, list_suites
from thalweg.engine.scenario import Scenario
from thalweg.experiments.suite import load_all
from thalweg.results.against.rivals import with_rivals
from thalweg.results.suite_result import SuiteResult

Capture = pytest.CaptureFixture[str]
FLOW = '[[flow]]\nname = "{name}"\ncontroller = "{controller}"\ndownload = "500 kB"\n'
HEAD = 'title = "Two"\ntime_limit = "20 s"\n[path]\nrate = "10 Mbps"\nrtt = "40 ms"\nbuffer = "1 bdp"\n'
PASS = '[[pass]]\nflow = "main"\nmetric = "completion"\nat_most = "9 s"\n'


def players(scenario: Scenario) -> dict[str, str]:
    return {str(flow["name"]): str(flow["controller"]) for flow in scenario.flows}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite whose candidate has two flows, beside a competitor."""
    suite = tmp_path / "mine"
    suite.mkdir()
    names = (("main", "reno"), ("second", "reno"), ("other", "cubic"))
    flows = "".join(FLOW.format(name=name, controller=controller) for name, controller in names)
    (suite / "two.toml").write_text(HEAD + flows + PASS, encoding="utf-8")
    alone = HEAD + FLOW.format(name="main", controller="reno")
    (suite / "alone.toml").write_text(alone, encoding="utf-8")
    (suite / "suite.toml").write_text('candidate = ["main", "second", "other"]\n', encoding="utf-8")
    return suite


def test_the_candidate_plays_all_flows_that_stand_for_it_and_no_competitor(folder: Path) -> None:
    two = find_scenario(folder / "two.toml")
    assert players(Scenario.from_entry(two)) == {"main": "reno", "second": "reno", "other": "cubic"}
    changed = Scenario.from_entry(two, (), {"main": "bbr"})
    assert players(changed) == {"main": "bbr", "second": "bbr", "other": "cubic"}  # it had another controller
    mixed = Scenario.from_entry(two, (), {"main": "bbr", "second": "c4"})
    assert players(mixed) == {"main": "bbr", "second": "c4", "other": "cubic"}
    one = Scenario.from_entry(two, (), {"second": "c4"})
    assert players(one) == {"main": "reno", "second": "c4", "other": "cubic"}
    suite = Suite.find(folder)
    loaded = load_all(suite.entries, (), [("main", "bbr")])
    assert [players(scenario)["main"] for scenario in loaded] == ["bbr", "bbr"]
    played = with_rivals(suite, suite.entries, loaded, ["c4"], (), [("main", "bbr")])
    assert players(played[-1]) == {"main": "c4", "second": "c4", "other": "cubic"}


def test_every_candidate_of_a_shipped_suite_has_flows_and_no_other_flow_has_its_controller() -> None:
    beside_itself = {"c4", "c4-05", "c4-05-as-printed", "c4-as-printed", "ccafct", "live", "regressions"}
    for suite in list_suites():
        alike: set[str] = set()
        named: set[str] = set()
        for entry in suite.entries:
            flows = {str(flow["name"]): str(flow["controller"]) for flow in Scenario.from_entry(entry).flows}
            named |= {*flows}
            own = flows.get("main")
            # Flows with a number are many of one kind, which no option has ever bound one by one.
            alike |= {name for name, controller in flows.items() if controller == own}
        candidate = {*suite.entries[0].candidate} or {"main"}
        assert candidate <= named | {"main"}, suite.name
        if suite.name not in beside_itself:  # whose competitors are of the same kind, by name: c4-short
            assert alike <= candidate | {"cubic"}, (suite.name, sorted(alike - candidate))


def test_a_suite_says_who_played_and_what_made_it(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    suite, only = ["suite", str(folder), "-n", "2", "--out", str(out)], ["--only", "two", "--only", "alone"]
    assert main([*suite, *only, "-c", "main=bbr"]) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "main, second: bbr; other: cubic"
    stored = SuiteResult.load(out)
    assert stored.controllers == lines[1]
    again = f"thalweg suite {folder} --only two --only alone --trials 2 --controller main=bbr"
    assert stored.command == json.loads((out / "experiment.json").read_text(encoding="utf-8"))["command"] == again
    page = (out / "report.html").read_text(encoding="utf-8")
    top = page[: page.index("<main>")]
    assert "main, second: bbr; other: cubic" in top
    assert "<span>--controller</span> <span>main=bbr</span>" in top
    assert main([*suite, "--no-report", "--format", "markdown"]) in (0, 1)
    assert capsys.readouterr().out.startswith("main, second: reno; other: cubic: `thalweg suite ")


def test_what_asks_nothing_has_no_row_of_verdicts(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    for only, has_verdicts in (("alone", False), ("two", True)):
        out = tmp_path / only
        assert main(["suite", str(folder), "-n", "2", "--only", only, "--out", str(out)]) in (0, 1)
        printed = capsys.readouterr().out
        assert "no pass criteria" not in printed
        assert ("  answer  " in printed) == has_verdicts
        assert ('id="verdicts"' in (out / "report.html").read_text(encoding="utf-8")) == has_verdicts


def test_the_answer_against_rivals_stands_first(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    words = ["suite", str(folder), "-n", "6", "--against", "cubic", "-c", "main=bbr", "--out", str(out)]
    assert main(words) in (0, 1, 2)
    lines = capsys.readouterr().out.splitlines()
    answer = "bbr against cubic: best in "
    assert lines[2].startswith(answer)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.index(answer) < page.index("<table")
    assert page.index('<section id="against">') < page.index('<section id="verdicts">')
    main([*words, "--format", "markdown"])
    assert capsys.readouterr().out.splitlines()[2].startswith(answer)


def test_a_candidate_that_no_scenario_has_is_refused(folder: Path) -> None:
    (folder / "suite.toml").write_text('candidate = ["mine"]\n', encoding="utf-8")
    with pytest.raises(RequestError, match="candidate names 'mine', and no scenario has such a flow"):
        load_all(Suite.find(folder).entries, (), [("main", "bbr")])
    (folder / "suite.toml").write_text("candidate = 1\n", encoding="utf-8")
    with pytest.raises(RequestError, match="candidate = 1: expected a list of names"):
        Suite.find(folder)
