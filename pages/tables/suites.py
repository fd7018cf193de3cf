"""Runs the suites of published documents, and makes the page of each: docs/evidence/suites/SUITE.md.

Also writes into `suite.toml` how much processor time the trials take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from textwrap import fill

from pages.made import DOCS, ROOT, made, row
from pages.tables import bbr_grid, bbr_grid_page, estimate, nsperf_published, regressions, wifi
from thalweg.cli import tables
from thalweg.engine.catalogue import Entry, Suite
from thalweg.engine.outcome import Outcomes
from thalweg.engine.scenario import Scenario
from thalweg.results.suite_result import SuiteResult

FOLDER = DOCS / "evidence" / "suites"
SUITES = {
    "bbr-draft": "checks the state machine that the BBR draft describes",
    "estimate": "what a sender is told of the rate of its path, against the truth",
    "incast": "many answers at once in a shallow buffer, with and without marks",
    "l4s": "Prague with CUBIC in the queues that L4S meets, and a rate that falls",
    "leo": "a low-orbit path that changes every 15 s",
    "nsperf": "BBR as Google tests it: coexistence, random loss, shallow and deep buffers, marks",
    "profiles": "fifteen access networks, one flow by itself and with CUBIC",
    "regressions": "known congestion bugs of public stacks, for a build to fail that brings one back",
    "rfc7928": "a controller behind six disciplines: delay against use of the link",
    "rfc8867": "video calls on wired paths that change, with each other and with TCP",
    "rfc8869": "video calls over Wi-Fi whose bottleneck is the wire",
    "satellite-20bdp": "a geostationary path with 20 BDP of buffer, RED and ECN",
    "tcpeval": "loads, transients, ramp-up and a parking lot, by the common TCP evaluation suite",
    "wifi": "jitter that is drawn by packet or in time, and stations that contend for a channel",
}
"""The suites with a page, and what each is for."""
SECTIONS = {
    "bbr-draft": bbr_grid_page.section,
    "estimate": estimate.section,
    "nsperf": nsperf_published.section,
    "regressions": regressions.section,
    "wifi": wifi.section,
}
"""Suites with a section of their own."""
SEED = 1
WIDTH = 110
LEAST_SHARED = 20
"""Words that notes begin with alike, to be said once."""


def make(name: str) -> None:
    """Makes the page of a suite."""
    suite = Suite.find(name)
    played = [(entry, of(entry, suite)) for entry in suite.entries]
    core_s = sum(float(outcomes.trials["core_s"].sum()) for _, outcomes in played)
    lines = [line for entry, outcomes in played for line in rows(suite, outcomes)]
    answers = [outcomes.verdict().answer for _, outcomes in played]
    passed, failed = answers.count("holds"), answers.count("fails")
    main = next(flow["controller"] for flow in played[0][1].scenario.flows if flow["name"] == "main")
    about = (
        f"Add `--controller main=NAME` to use another controller: built in, a Python file, or the QUIC stack's. "
        f"{len(played)} scenarios, {suite.trials} trials of each, seed {SEED}; "
        f'{passed} hold and {failed} fail with their own controllers, mostly `{main}`. Criteria "for info" decide '
        f"nothing."
    )
    purpose = f"{SUITES[name][0].upper()}{SUITES[name][1:]}. From {suite.source}."
    text = f"""# {name}

{fill(purpose, WIDTH, break_on_hyphens=False)}

    thalweg suite {name} --trials {suite.trials}

{fill(about, WIDTH, break_on_hyphens=False)}

{made(f"suite-{name}")}

<!-- made: table -->
{tables.markdown(tables.HEADERS, []).strip()}
{chr(10).join(lines)}
<!-- end -->

{SECTIONS[name](SEED) + chr(10) if name in SECTIONS else ""}## Deviations

What each scenario changes of its document, where its bounds come from, and why some are missed:

{notes([(entry.name, outcomes.scenario.note or "") for entry, outcomes in played])}
"""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
    description = ROOT / "python" / "thalweg" / "suites" / name / "suite.toml"
    written = re.sub(r"^takes.*\n", "", description.read_text(encoding="utf-8"), flags=re.MULTILINE)
    takes = f'takes  = "about {float(f"{core_s:.1g}"):g} s"\n'
    described = re.sub("^order ", f"{takes}order ", written, count=1, flags=re.MULTILINE)
    description.write_text(described, encoding="utf-8")


def of(entry: Entry, suite: Suite) -> Outcomes:
    """The trials of a scenario."""
    return Scenario.from_entry(entry).trials(suite.trials, seed=SEED)


def rows(suite: Suite, outcomes: Outcomes) -> list[str]:
    """The lines of a scenario in the table of its suite."""
    result = SuiteResult(suite.name, suite.title, suite.source, SEED)
    result.add(outcomes)
    return [row(*cells) for cells in tables.result_rows(result)]


def notes(noted: Sequence[tuple[str, str]]) -> str:
    """The notes of scenarios by name, each once; sentences that several begin with are one note of all of these.

    >>> long = f"{'So it is in all of them, ' * 5}always."
    >>> given = [("a", f"{long} Here not."), ("b", long), ("c", ""), ("d", f"{long} Nor here.")]
    >>> [line[:14] for line in notes(given).splitlines() if line.startswith("-")]
    ['- `a` to `d` (', '- `a`: Here no', '- `d`: Nor her']
    """
    by_note: dict[str, list[str]] = {}
    order = [name for name, _ in noted]
    for name, note in noted:
        if words := " ".join(note.split()):
            by_note.setdefault(words, []).append(name)
    by_begin: dict[str, list[str]] = {}
    for note in by_note:
        by_begin.setdefault(_sentences(note)[0], []).append(note)
    bullets = []
    for alike in by_begin.values():
        side_by_side = zip(*map(_sentences, alike), strict=False)
        begin = " ".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, side_by_side))
        if len(alike) == 1 or len(begin.split()) < LEAST_SHARED:
            begin = ""
        else:
            names = [name for note in alike for name in by_note[note]]
            bullets.append(f"- {names_of(sorted(names, key=order.index))}: {begin}")
        rests = ((note, note.removeprefix(begin).strip()) for note in alike)
        bullets += [f"- {names_of(by_note[note])}: {rest}" for note, rest in rests if rest]
    return "\n".join(fill(bullet, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for bullet in bullets)


def _sentences(note: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z0-9])", note)


def names_of(names: list[str]) -> str:
    """Names of scenarios, all or the first and the last."""
    return f"`{names[0]}`" if len(names) == 1 else f"`{names[0]}` to `{names[-1]}` ({len(names)})"


def parts(name: str) -> list[tuple[str, Callable[[], Iterable[str]]]]:
    """Each scenario of a suite, measured again."""
    suite = Suite.find(name)
    return [*((entry.name, partial(_again, entry, suite)) for entry in suite.entries), *_parts_of_section(name)]


def _parts_of_section(name: str) -> Iterable[tuple[str, Callable[[], Iterable[str]]]]:
    if name == "estimate":
        for controller in estimate.CONTROLLERS:
            yield f"what {controller} tells", partial(estimate.lines_of, controller, SEED)
    if name == "wifi":
        for scenario in wifi.DOWNLOADS:
            yield f"six controllers on {scenario}", partial(wifi.lines_of, scenario, SEED)
    if name == "regressions":
        for scenario in regressions.BUGS:
            yield f"{scenario} with its bug", partial(regressions.lines_of, scenario, SEED)
    if name == "nsperf":
        for loss in nsperf_published.LOSSES:
            yield f"goodput with {loss} of loss", partial(nsperf_published.lines_of, loss, SEED)
    if name == "bbr-draft":
        for case in bbr_grid_page.cases():
            for rtt in bbr_grid.RTTS:
                yield f"{case} at {rtt}", partial(bbr_grid_page.lines_of, case, rtt, SEED)


def _again(entry: Entry, suite: Suite) -> list[str]:
    return rows(suite, of(entry, suite))


def page(name: str) -> Path:
    """The page of a suite."""
    return FOLDER / f"{name}.md"
