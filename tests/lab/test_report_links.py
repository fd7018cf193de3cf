"""Links of reports to the lab: what Python writes, the page of the lab reads, and runs to the same trace hash."""

from __future__ import annotations

import base64
import json
import tomllib
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.conftest import Open, shown_hash
from thalweg import Scenario
from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.pages.lab_link import LAB, SITE, TrialLink, fragment_of, link_of
from thalweg.pages.report import write_report
from thalweg.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).parents[2]
FROM_PEOPLE = 'title = "Größe 大 \\"quoted\\" </script><b>"\n'


def unpacked(fragment: str) -> dict[str, Any]:
    """The table in a link."""
    packed = fragment.removeprefix("#trial=")
    table = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), wbits=-15)
    return dict(json.loads(table))


def links_of(browser: Browser, page: Path) -> dict[str, list[str]]:
    """The links of a report, by the id of their section, as the browser understands them."""
    view = browser.new_page()
    view.goto(page.as_uri())
    found: list[list[str]] = view.eval_on_selector_all(
        ".lab a", "all => all.map((one) => [one.closest('section').id, one.href])"
    )
    view.close()
    sections: dict[str, list[str]] = {}
    for section, link in found:
        assert link.startswith(LAB)
        sections.setdefault(section, []).append(fragment_of(link))
    return sections


def test_links_of_a_suite_open_its_worst_trial_and_one_at_the_median(
    browser: Browser, opened: Open, tmp_path: Path
) -> None:
    scenarios = [
        Scenario.load("c4/bad-wifi"),
        Scenario.load("c4/media-bad-wifi", overrides={"path.rate": "8 Mbps"}, controllers={"main": "cubic"}),
    ]
    outcomes = [scenario.trials(5, seed=2**20 + 1) for scenario in scenarios]
    write_report(
        SuiteResult("c4", "By hand", None, seed=2**20 + 1, outcomes=outcomes, folder=tmp_path), tmp_path / "a.html"
    )
    links = links_of(browser, tmp_path / "a.html")
    assert list(links) == ["bad-wifi", "media-bad-wifi"]
    for of, fragments in zip(outcomes, links.values(), strict=True):
        verdict = of.verdict()
        trials = list(dict.fromkeys([verdict.worst_trial, verdict.typical_trial]))
        assert len(fragments) == len(trials)
        for trial, fragment in zip(trials, fragments, strict=True):
            view = opened(fragment)
            assert shown_hash(view) == of.trace_hash(trial)
            assert "the hashes are equal" in view.locator(".promise").inner_text()
            assert view.evaluate("thalweg.shown.setup.origin") == f"c4/{of.scenario.name}"
            view.context.close()


@pytest.mark.soak
def test_links_of_a_study_open_the_first_trial_of_each_scenario(
    browser: Browser, opened: Open, tmp_path: Path
) -> None:
    conditions = "-c c4 -c cubic --buffer 1 --rtt-ratio 1 --queue drop-tail --flows 2 --duration 20s --gap 1s"
    main(
        ["study", "fairness", *conditions.split(), "-n", "2", "--seed-set", "3", "--out", str(tmp_path / "study")]
    )
    fragments = links_of(browser, tmp_path / "study" / "report.html")["scenarios"]
    files = sorted((tmp_path / "study" / "scenarios").iterdir())
    assert len(fragments) == len(files) > 2
    for fragment in fragments[:2]:
        table = unpacked(fragment)
        native = Scenario.load(tmp_path / "study" / "scenarios" / table["n"]).run(seed=int(table["d"]))
        assert int(table["d"]) == 2 * 2**20 + 1
        assert table["h"] == native.trace_hash
        view = opened(fragment)
        assert shown_hash(view) == native.trace_hash
        assert "the hashes are equal" in view.locator(".promise").inner_text()
        view.context.close()


@pytest.mark.soak
def test_what_a_hunt_has_found_opens_as_it_shrank_and_as_it_was_found(
    browser: Browser, opened: Open, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(
        'objective = "slowdown"\nscenario = "c4/simple-20mbps"\nbudget = 8\ntrials = 2\n'
        '[axes]\n"path.rtt" = { from = "20 ms", to = "400 ms" }\n"path.loss" = { from = "0.1 %", to = "2 %" }\n',
        encoding="utf-8",
    )
    assert main(["hunt", str(plan), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    view = browser.new_page()
    view.goto((out / "find.html").as_uri())
    links: list[str] = view.eval_on_selector_all(".lab a", "all => all.map((one) => one.href)")
    assert "thalweg lab --open --trial" in view.locator(".lab").inner_text()
    view.close()
    assert f"open this trial in the lab: thalweg lab --open --trial '{fragment_of(links[0])}'" in printed
    tables = [unpacked(fragment_of(link)) for link in links]
    assert [table["n"] for table in tables] == ["find.toml", "found.toml"]
    for link, table in zip(links, tables, strict=True):
        text = (out / table["n"]).read_text(encoding="utf-8")
        assert f"--seed {table['d']} -n 1" in " ".join(text.split("\n# "))
        native = Scenario.load(out / table["n"]).run(seed=int(table["d"]))
        assert table["h"] == native.trace_hash
        view = opened(fragment_of(link))
        assert shown_hash(view) == native.trace_hash
        assert "the hashes are equal" in view.locator(".promise").inner_text()
        view.context.close()


def test_python_and_the_page_write_the_same_table(opened: Open) -> None:
    view = opened()
    text = FROM_PEOPLE + Scenario.load("c4/simple-20mbps").toml.split("\n", 1)[1]
    ours = Scenario.from_toml(text, "odd name.toml")
    trial = ours.run(seed=2**63)
    link = link_of(ours.description, 2**63, view.evaluate("thalweg.version"), trial.trace_hash)
    assert link is not None
    theirs = view.evaluate(
        """async ([text, origin]) => {
          await thalweg.open(text, origin);
          await thalweg.seed(2n ** 63n);
          return thalweg.link();
        }""",
        [text, "odd name.toml"],
    )
    assert unpacked(link.fragment) == unpacked(fragment_of(theirs))


def test_what_a_browser_cannot_run_has_no_link() -> None:
    toml = Scenario.load("c4/simple-20mbps").toml
    on_stack = Scenario.from_toml(toml, "a", overrides={"flow.main.stack": "quic"})
    of_stack = Scenario.from_toml(
        toml, "a", controllers={"main": "noq:cubic"}, overrides={"flow.main.stack": "quic"}
    )
    in_python = Scenario.from_toml(toml, "a", controllers={"main": str(ROOT / "examples/controllers/aimd.py")})
    long = Scenario.from_toml(toml + "#" * 600_000, "a")
    for scenario in (on_stack, of_stack, in_python, long):
        assert link_of(scenario.description, 1, "0", "") is None
    assert link_of(Scenario.from_toml(toml, "a").description, 1, "0", "") is not None


@pytest.mark.parametrize("text", ["", "#trial=", "https://example.org/", "#trial=a b", "#trial=<b>"])
def test_what_is_no_link_is_refused_before_anything_is_served(text: str) -> None:
    with pytest.raises(RequestError, match="accepted: a link to a trial"):
        fragment_of(text)


def test_the_site_is_where_the_package_says_that_its_manual_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == SITE
    assert TrialLink("a", "", 1, "0", "").address.startswith(f"{SITE}/lab/#trial=")
