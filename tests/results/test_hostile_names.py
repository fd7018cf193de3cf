"""Names and titles that are written to be run: on no page and in no figure are they more than text.

A page is read as a browser reads it and set beside the same page with harmless names: the same elements with the
same attributes in the same order, no reference but to places of the page, and the names in full as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.experiments.studies.runner.page import write_study
from thalweg.experiments.studies.runner.result import Check, Finding, StudyResult
from thalweg.experiments.studies.runner.table import Table
from thalweg.pages.figures import plot_distribution, plot_trial, save
from thalweg.pages.figures.page import unpacked
from thalweg.pages.lab_link import LAB
from thalweg.pages.report import write_report
from thalweg.pages.report.section import Section
from thalweg.probe.analysis import analyze
from thalweg.probe.report.page import write_probe_report
from thalweg.probe.simulated import simulate_probe
from thalweg.results.suite_result import SuiteResult

HARMLESS = "plain"
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--<script>",
    "</style></title></pre></textarea>]]><svg onload=alert(1)>",
    "{{ 7 * 7 }} &lt;b&gt; \\u003cb> \\",
]
SCENARIO = """\
title = TEXT
source = TEXT
note = TEXT

[path]
rate = "10 Mbps"
rtt = "20 ms"
buffer = "0.5 bdp"

[[flow]]
name = "main"
controller = "cubic"
download = "200 kB"

[[flow]]
name = "other"
controller = "c4"
download = "200 kB"

[[pass]]
flow = "main"
metric = "completion"
at_most = "5 s"
source = TEXT
"""
Draw = Callable[[str, Path], Path]


class Reader(HTMLParser):
    """What a browser makes of a page: its elements, and its text outside of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[str] = []
        self.scripts: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.values += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.text += data


def read(page: Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    reader.close()
    return reader


def scenario(name: str) -> Scenario:
    return Scenario.from_toml(SCENARIO.replace("TEXT", json.dumps(name)), name)


def figure_of_a_trial(name: str, folder: Path) -> Path:
    save(plot_trial(scenario(name).run(trace=True)), folder / "trial.html")
    return folder / "trial.html"


def figure_of_a_distribution(name: str, folder: Path) -> Path:
    save(plot_distribution(scenario(name).trials(2)), folder / "distribution.html")
    return folder / "distribution.html"


def report_of_a_suite(name: str, folder: Path) -> Path:
    outcomes = scenario(name).trials(2)
    result = SuiteResult(name, name, name, seed=1, outcomes=[outcomes], folder=folder / "r", started=name)
    result.host, result.version = {"system": name, "processor": name, "cores": 2}, name
    write_report(result, folder / "suite.html")
    return folder / "suite.html"


def report_of_a_scenario_that_no_longer_runs(name: str, folder: Path) -> Path:
    outcomes = scenario(name).trials(2)
    broken = replace(outcomes, scenario=replace(outcomes.scenario, toml=f"{json.dumps(name)} = 1"))
    write_report(SuiteResult(None, name, None, seed=1, outcomes=[broken]), folder / "broken.html")
    return folder / "broken.html"


def report_of_a_study(name: str, folder: Path) -> Path:
    result = StudyResult(name, name, name, name, trials=1, seed=1)
    result.rows = [{"cell": name}]
    result.checks = [Check(name, name, "holds", name)]
    result.findings = [Finding(name, name, name, name, "fails", name)]
    result.host = {"system": name, "processor": name, "cores": 2}
    section = Section(name, name, name, lambda: [plot_distribution(scenario(name).trials(2))])
    write_study(result, Table([name], [[name]], 1), name, [section], [], folder / "study.html")
    return folder / "study.html"


def report_of_probes(name: str, folder: Path) -> Path:
    series = simulate_probe(Scenario.load("c4/bad-wifi"), 1, 10e-3, 100).renamed(name)
    write_probe_report([analyze(series)], folder / "probe.html")
    return folder / "probe.html"


PAGES = [
    figure_of_a_trial,
    figure_of_a_distribution,
    report_of_a_suite,
    report_of_a_scenario_that_no_longer_runs,
    report_of_a_study,
    report_of_probes,
]


@pytest.mark.parametrize("draw", PAGES)
def test_a_hostile_name_is_text_on_every_page(draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The drawing program is large, and the same on every page.
    monkeypatch.setattr("thalweg.pages.figures.page.program", lambda: "window.vegaEmbed = null;")
    harmless = read(draw(HARMLESS, tmp_path))
    assert harmless.scripts
    # The fits of a page of probes take time.
    for name in [" ".join(HOSTILE)] if draw is report_of_probes else HOSTILE:
        page = read(draw(name, tmp_path))
        assert _lasting(page) == _lasting(harmless), name
        assert all(re.fullmatch(rf"#.*|{re.escape(LAB)}(#trial=[\w-]+)?", value) for value in page.values), name
        # What is shown is what was written, not something else that is harmless.
        assert name in page.text
        packed = next(json.loads(script) for script in page.scripts if script.startswith('{"'))
        figures = {anchor: json.loads(unpacked(text)) for anchor, text in packed.items()}
        assert _within(name, figures), name


@pytest.mark.parametrize("draw", [figure_of_a_trial, report_of_a_suite, report_of_a_study])
def test_a_page_runs_its_own_scripts_alone_and_fetches_nothing(draw: Draw, tmp_path: Path) -> None:
    text = draw(HARMLESS, tmp_path).read_text(encoding="utf-8")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    rules = dict(rule.strip().split(" ", 1) for rule in unescape(policy).split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    scripts = [*re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL), _drawing_program(text)]
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert rules["script-src"].split() == [*hashes, "'unsafe-eval'"]


def _drawing_program(text: str) -> str:
    (program,) = re.findall(r'<script type="text/plain" id="program">(.*?)</script>', text, flags=re.DOTALL)
    return unpacked(program)


def _lasting(page: Reader) -> list[tuple[str, tuple[str, ...]]]:
    """The elements of a page but those whose number depends on the draws, which depend on the names of flows.

    These are definitions of the states that a figure explains, and links to trials: the worst may be the median.
    """
    drawn = (("div", ()), ("dt", ()), ("dd", ()), ("a", ("href", "target", "rel")), ("small", ()))
    return [element for element in page.elements if element not in drawn]


def _within(name: str, value: object) -> bool:
    """Whether a text somewhere in a document holds the name: as it is, or within the CSV of a table."""
    if isinstance(value, str):
        return name in value or name.replace('"', '""') in value
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(_within(name, part) for part in parts)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_a_picture(name: str, tmp_path: Path) -> None:
    file = tmp_path / "trial.svg"
    save(plot_trial(scenario(name).run(trace=True)), file)
    root = ElementTree.parse(file).getroot()
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clipPath"}
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on") or "href" in key]
    assert name in "".join(root.itertext())


def test_a_hostile_file_name_and_suite_title_are_text_in_the_report_of_a_suite(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    name = '"><img src=x onerror=alert(1)>&quot;'
    (suite / "suite.toml").write_text(f"title = {json.dumps(HOSTILE[0])}", encoding="utf-8")
    (suite / f"{name}.toml").write_text(SCENARIO.replace("TEXT", '"plain"'), encoding="utf-8")
    assert main(["suite", str(suite), "-n", "1", "--out", str(tmp_path / "out")]) == 0
    page = read(tmp_path / "out" / "report.html")
    assert not {tag for tag, _ in page.elements} & {"img", "iframe"}
    # One strip for the one scenario, and one for its one criterion.
    assert [keys[:1] for tag, keys in page.elements if tag == "svg"] == [("class",)] * 2
    assert not [key for _, keys in page.elements for key in keys if key.startswith("on")]
    assert name in page.text
    assert HOSTILE[0] in page.text
