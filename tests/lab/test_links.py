"""Links of the lab: the same trial where they open, and data alone if they are damaged or a stranger's."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open, shown_hash
from thalweg import Scenario

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them


def test_a_link_opens_the_same_trial_and_says_so(opened: Open) -> None:
    view = opened()
    link = view.evaluate(
        """async () => {
          await thalweg.controllers({main: "bbr"});
          await thalweg.set({"path.rtt": '"30 ms"'});
          await thalweg.seed(5);
          return thalweg.link();
        }"""
    )
    fragment = link[link.index("#") :]
    view = opened(fragment)
    native = Scenario.load("c4/bad-wifi", overrides={"path.rtt": "30 ms"}, controllers={"main": "bbr"}).run(seed=5)
    assert shown_hash(view) == native.trace_hash
    assert "the hashes are equal" in view.locator(".promise").inner_text()


@pytest.mark.parametrize("fragment", ["#trial=AAAA", "#trial=%3Cscript%3E", "#trial=", "#trial=q1ZKBAA"])
def test_a_damaged_link_is_said_to_be_damaged(opened: Open, fragment: str) -> None:
    view = opened(fragment)
    assert "damaged" in view.get_by_role("alert").inner_text()


def test_a_link_with_a_seed_of_more_than_64_bits_is_refused(opened: Open) -> None:
    words = {"v": "", "h": "", "n": "t.toml", "t": "", "s": {}, "c": {}, "d": "99999999999999999999"}
    packer = zlib.compressobj(wbits=-15)
    packed = base64.urlsafe_b64encode(packer.compress(json.dumps(words).encode()) + packer.flush()).decode()
    view = opened(f"#trial={packed.rstrip('=')}")
    assert "from 0 to 18446744073709551615" in view.get_by_role("alert").inner_text()


def test_a_trial_that_is_too_long_for_a_link_is_refused(opened: Open) -> None:
    view = opened()
    text = Scenario.load("c4/simple-20mbps").toml + "#" * (1 << 20)
    view.evaluate("(text) => thalweg.open(text)", text)
    view.get_by_role("button", name="Copy a link to this trial").click()
    view.get_by_role("alert").wait_for()
    assert "too long for a link" in view.get_by_role("alert").inner_text()


def test_texts_of_strangers_are_never_markup(opened: Open) -> None:
    evil = "<img src=x onerror='document.title=1'><b>bold</b>"
    text = Scenario.load("c4/simple-20mbps").toml.replace('"Simple 20 Mbps"', f'"{evil}"')
    view = opened()
    link = view.evaluate(
        "async (text) => { await thalweg.open(text, text.slice(0, 80)); return thalweg.link(); }", text
    )
    view = opened(link[link.index("#") :], settled=True)
    assert view.locator("main h2").first.inner_text() == evil
    assert view.locator("main img, main b").count() == 0
    assert view.title() == "Thalweg lab"
    assert "<img" not in view.evaluate("thalweg.svg()")
