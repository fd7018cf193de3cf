"""Each time and each limit that README and the index give names what holds it, and says what is so.

A statement of a time is any duration in their prose, tables and comments of commands; a statement of a limit is a
sentence of README's paragraph of limits or of what it needs, and each entry of what is out of scope. `HELD_BY` has
the holder of each: a test, a target of make, or where a number of others was measured.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest

from documentation.blocks import ROOT
from thalweg import Scenario, _native
from thalweg.base.errors import ScenarioError

HELD_BY = {
    "README.md": {
        r"1 ms of a core": "make bench",
        r"0\.65 s of a core": "elsewhere: ns-3 3.44, release build, in turns with ours",
        r"the 4\.4 s that it lasts": "tests/simulator/test_draft_numbers.py::test_the_simple_20_mbps",
        r"ten minutes": "tests/documentation/test_blocks.py::test_every_block_of_a_page_runs",
        r"This needs Linux or macOS": "tests/documentation/test_promises.py::test_versions_that_readme_asks_for",
        r"Node and `rustup` are needed": "make build",
        r"One path per connection, no multipath": "tests/documentation/test_promises.py::test_a_second_path",
        r"The model is not a network": "tests/repository/test_citations.py::test_every_link_leads",
        r"Real time requires Linux and a path": "tests/live/test_flows.py::test_a_path_of_several_hops",
    },
    "docs/index.md": {
        r"ten minutes": "tests/documentation/test_blocks.py::test_every_block_of_a_page_runs",
        r"Deployments": "elsewhere: draft-huitema-ccwg-c4-test",
        r"Multipath": "tests/documentation/test_promises.py::test_a_second_path",
        r"Learning-based controllers": "tests/documentation/test_promises.py::test_every_controller",
        r"changes every 15 s": 'python/thalweg/suites/leo/alone.toml::at   = "15 s"',
    },
}
_NUMERAL = r"(?:\d[\d.]*|an?|half an?|one|two|three|four|five|six|ten|twenty)"
_TIME = re.compile(rf"\b{_NUMERAL} (?:ms|s|seconds?|minutes?|hours?)\b")
_OF_NEEDS = re.compile(r"[^.]*\bneed(?:s|ed)\b[^.]*(?:\.\d[^.]*)*\.")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """The text without its blocks of code, but with the comments in blocks of commands."""
    return _FENCE.sub(lambda block: "\n".join(re.findall(r"# .*", block[2])) if block[1] == "sh" else "", text)


def statements(text: str) -> Iterator[str]:
    """The lines with a time, and the sentences that are limits, of a page."""
    said = prose(text)
    yield from (line for line in said.splitlines() if _TIME.search(line))
    for paragraph in said.split("\n\n"):
        words = " ".join(paragraph.split())
        if words.startswith("**Limits.**"):
            yield from re.findall(r"[A-Z*](?:[^.]|\.\w)+\.", words.removeprefix("**Limits.**"))
        elif words.startswith("This needs"):
            yield from _OF_NEEDS.findall(words)
    scope = said.partition("## Out of scope\n")[2].partition("\n## ")[0]
    yield from re.findall(r"^- (.+)", scope, re.MULTILINE)


@pytest.mark.parametrize("page", HELD_BY)
def test_every_time_and_every_limit_names_what_holds_it(page: str) -> None:
    said = list(statements((ROOT / page).read_text(encoding="utf-8")))
    assert [one for one in said if not any(re.search(known, one) for known in HELD_BY[page])] == []
    assert [known for known in HELD_BY[page] if not any(re.search(known, one) for one in said)] == []


@pytest.mark.parametrize("holder", sorted({holder for held in HELD_BY.values() for holder in held.values()}))
def test_what_holds_a_statement_exists(holder: str) -> None:
    if holder.startswith("make "):
        assert re.search(
            rf"^{holder.removeprefix('make ')}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
        )
    elif not holder.startswith("elsewhere: "):
        file, _, name = holder.partition("::")
        assert name in (ROOT / file).read_text(encoding="utf-8")


def test_a_statement_that_nothing_holds_is_found() -> None:
    text = "# X\n\nIt takes half an hour.\n\n**Limits.** One path. No wine.\n\n```sh\nmake # two minutes\n```\n"
    assert list(statements(text)) == ["It takes half an hour.", "# two minutes", "One path.", "No wine."]
    assert list(statements("## Out of scope\n\n- Wine: none.\n")) == ["Wine: none."]
    assert list(statements('```toml\nrtt = "20 ms"\n```\n')) == []


def test_versions_that_readme_asks_for_are_those_of_the_packages() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    asked = re.search(
        r"a Rust toolchain \(([\d.]+) or newer\), Python ([\d.]+) or newer", " ".join(readme.split())
    )
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    python = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert asked
    assert asked[1] == cargo["workspace"]["package"]["rust-version"]
    assert f">={asked[2]}" == python["project"]["requires-python"]


def test_a_second_path_of_a_connection_is_refused() -> None:
    flow = '[[flow]]\nname = "main"\ncontroller = "c4"\ndownload = "1 MB"\n'
    path = 'rate = "20 Mbps"\nrtt = "20 ms"\nbuffer = "1 bdp"\n'
    assert Scenario.from_toml(f'title = "x"\n[path]\n{path}{flow}', "one").flows
    with pytest.raises(ScenarioError):
        Scenario.from_toml(f'title = "x"\n[[path]]\n{path}[[path]]\n{path}{flow}', "two")


def test_every_controller_is_in_the_release_notes() -> None:
    notes = (ROOT / "RELEASE_NOTES.md").read_text(encoding="utf-8")
    named = {controller["name"] for controller in _native.controllers()}
    ours = {name for name in named if ":" not in name}
    assert ours == {name for name in re.findall(r"`([\w-]+)`", notes) if name in named}
    assert len(ours) == 13
