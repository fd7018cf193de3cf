"""What the lists of the lab offer, and how a change gets into the text of a scenario."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.conftest import Open, Problems, shows
from lab.test_keyboard import until
from lab.test_server import running
from thalweg import Scenario
from thalweg.lab.folder import Folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(300)
TEXT = """# measured on a train
title = "A train"  # of July
[[link]]
name = "air"
rate = "10 Mbps"     # by day
rtt = "40 ms"
jitter = { model = "wifi", mean = "3 ms" } # guessed
[[flow]]
# the one that matters
name = "main"
controller = "c4"  # ours
download = "500 kB"
route = ["air"]
[[flow]]
name = "other"
controller = "reno"
download = "300 kB"
route = ["air"]
"""
NOTHING_SET = "Object.keys(thalweg.shown.setup.sets).length === 0"
MINE = """import thalweg


class Mine(thalweg.Controller):
    def on_ack(self, event, path):
        self.window = 30000
"""


def test_changes_are_written_in_place_and_comments_stay(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", TEXT)
    view.evaluate("""thalweg.set({'link.air.rate': '"12 Mbps"', 'link.air.jitter.mean': '"5 ms"'})""")
    view.evaluate(
        """thalweg.set({'link.air.buffer': '"2 bdp"', 'link.air.loss': '"1 %"', 'time_limit': '"9 s"'})"""
    )
    view.evaluate("thalweg.controllers({main: 'cubic:beta=0.8', other: 'bbr'})")
    before = view.evaluate("thalweg.shown.trial.hash")
    view.get_by_role("button", name="Write them into the scenario").click()
    until(view, NOTHING_SET)
    view.evaluate("thalweg.rerun()")
    expected = (
        TEXT.replace('"10 Mbps"', '"12 Mbps"')
        .replace('"3 ms"', '"5 ms"')
        .replace('"c4"', '"cubic:beta=0.8"')
        .replace('"reno"', '"bbr"')
        .replace("# guessed\n", '# guessed\nbuffer = "2 bdp"\nloss = "1 %"\n')
        .replace("# of July\n", '# of July\ntime_limit = "9 s"\n')
    )
    assert view.evaluate("thalweg.shown.setup.text") == expected
    assert view.evaluate("thalweg.shown.trial.hash") == before


def test_short_forms_are_read_by_the_lists_and_stay_short(opened: Open) -> None:
    view = opened()
    text = TEXT.replace('jitter = { model = "wifi", mean = "3 ms" }', 'queue = "codel"\njitter = "3 ms"')
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", text)
    assert view.get_by_label("Queue discipline", exact=True).input_value() == "codel"
    assert view.get_by_label("Jitter", exact=True).input_value() == "normal"
    view.get_by_label("Mean jitter", exact=True).press("ArrowRight")
    until(view, "Object.keys(thalweg.shown.setup.sets).length === 1")
    ((key, value),) = view.evaluate("Object.entries(thalweg.shown.setup.sets)")
    assert (key, value[-4:]) == ("link.air.jitter", ' ms"')
    view.get_by_label("Queue discipline", exact=True).select_option("pie")
    view.get_by_role("button", name="Write them into the scenario").click()
    until(view, NOTHING_SET)
    changed = text.replace('"codel"', '"pie"').replace('"3 ms"', value)
    assert view.evaluate("thalweg.shown.setup.text") == changed


def test_a_change_that_the_page_has_not_read_yet_is_written_too(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", TEXT)
    view.evaluate("thalweg.set({'link.air.rate': '\"12 Mbps\"'})")
    # Both in one turn of the browser: no engine has answered between them.
    view.evaluate("""() => {
      const list = document.querySelector("#choice-Queue-discipline");
      list.value = "pie";
      list.dispatchEvent(new Event("change", {bubbles: true}));
      const named = ({textContent}) => textContent === "Write them into the scenario";
      [...document.querySelectorAll("button")].find(named).click();
    }""")
    until(view, NOTHING_SET)
    text = view.evaluate("thalweg.shown.setup.text")
    assert 'rate = "12 Mbps"' in text
    assert 'queue = "pie"' in text


def test_one_switch_gives_all_flows_the_hosts_of_linux_and_takes_them_back(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", TEXT)
    view.evaluate("thalweg.set({'flow.main.host': '\"picoquic\"', 'link.air.rate': '\"12 Mbps\"'})")
    switch = view.get_by_label("As Linux sends it")
    assert not switch.is_checked()
    switch.click()
    until(view, "'flow.*.host' in thalweg.shown.setup.sets")
    view.evaluate("thalweg.rerun()")
    sets = {"link.air.rate": "12 Mbps", "flow.*.host": "linux"}
    assert view.evaluate("thalweg.shown.setup.sets") == {key: f'"{value}"' for key, value in sets.items()}
    native = Scenario.from_toml(TEXT, "t", overrides=sets).run(seed=1).trace_hash
    assert view.evaluate("thalweg.shown.trial.hash") == native
    link = view.evaluate("thalweg.link()")
    view.get_by_role("button", name="Write them into the scenario").click()
    until(view, NOTHING_SET)
    written = TEXT.replace('"10 Mbps"', '"12 Mbps"').replace('["air"]', '["air"]\nhost = "linux"')
    assert view.evaluate("thalweg.shown.setup.text") == written
    # The scenario itself has Linux now, which another setting overrides.
    switch.click()
    until(view, "'flow.*.host' in thalweg.shown.setup.sets")
    ideal = Scenario.from_toml(TEXT, "t", overrides={"link.air.rate": "12 Mbps"}).run(seed=1).trace_hash
    view.evaluate("thalweg.rerun()")
    assert (view.evaluate("thalweg.shown.trial.hash"), switch.is_checked()) == (ideal, False)
    switch.click()
    until(view, NOTHING_SET)
    view = opened(link[link.index("#") :])
    switch = view.get_by_label("As Linux sends it")
    assert (view.evaluate("thalweg.shown.trial.hash"), switch.is_checked()) == (native, True)
    switch.click()
    until(view, "Object.keys(thalweg.shown.setup.sets).join() === 'link.air.rate'")
    view.evaluate("thalweg.rerun()")
    assert view.evaluate("thalweg.shown.trial.hash") == ideal


def test_the_switch_can_be_turned_off_where_it_makes_a_scenario_impossible(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", TEXT)
    view.evaluate("thalweg.set({'link.air.buffer': '\"2 kB\"', 'link.air.splits': 'false'})")
    switch = view.get_by_label("As Linux sends it")
    switch.click()
    until(view, "thalweg.shown.refusal?.includes('holds no bundle')")
    assert switch.is_checked()
    switch.click()
    until(view, "thalweg.shown.refusal === null")
    assert not switch.is_checked()
    assert "flow.*.host" not in view.evaluate("thalweg.shown.setup.sets")


def test_a_text_that_cannot_be_changed_in_place_is_still_the_same_scenario(opened: Open) -> None:
    view = opened()
    text = TEXT.replace('rate = "10 Mbps"     # by day\n', "").replace(
        "rtt = ", '"ra\\u0074e" = "10 Mbps"\nrtt = '
    )
    view.evaluate("(text) => thalweg.open(text, 'train.toml')", text)
    assert view.evaluate("thalweg.shown.refusal") is None
    view.evaluate("""thalweg.set({'link.air.rate': '"12 Mbps"'})""")
    before = view.evaluate("thalweg.shown.trial.hash")
    view.get_by_role("button", name="Write them into the scenario").click()
    until(view, NOTHING_SET)
    view.evaluate("thalweg.rerun()")
    assert view.evaluate("[thalweg.shown.setup.sets, thalweg.shown.trial.hash]") == [{}, before]


def test_the_menu_has_the_controllers_of_the_folder_and_noq_ones_set_the_stack(
    browser: Browser, static: str, problems: Problems, tmp_path: Path
) -> None:
    (tmp_path / "train.toml").write_text(TEXT)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "plot.py").write_text("raise SystemExit('it was run')\n")
    assert Folder.at(tmp_path).controllers() == []
    assert Folder.at(tmp_path, runs_python=True).controllers() == ["./mine.py"]
    with running(tmp_path, "--python") as lab:
        view = lab.page(browser, problems)
        menu = view.get_by_label("Controller of main", exact=True)
        assert "./mine.py" in menu.locator("option").all_inner_texts()
        assert "./plot.py" not in menu.locator("option").all_inner_texts()
        menu.select_option("./mine.py")
        view.evaluate("thalweg.rerun()")
        assert view.locator(".outcome tbody td").first.inner_text() == "./mine.py"
        assert "./mine.py" in view.locator(".hindered").inner_text()
        menu.select_option("noq:cubic")
        view.evaluate("thalweg.rerun()")
        assert view.evaluate("thalweg.shown.refusal") is None
        assert view.locator(".outcome tbody td").first.inner_text() == "noq:cubic"
        assert view.evaluate("thalweg.shown.setup.sets") == {"flow.main.stack": '"quic"'}
        assert menu.input_value() == "noq:cubic"
        assert "QUIC stack" in view.locator(".hindered").inner_text()
        menu.select_option("cubic")
        view.evaluate("thalweg.rerun()")
        assert view.evaluate("thalweg.shown.setup.sets") == {}
        view.context.close()


def test_a_lesson_says_how_far_it_is(opened: Open) -> None:
    view = opened("#lesson=slow-start")
    view.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => {
            const words = document.querySelector(".lesson [role=status]")?.textContent;
            const bar = document.querySelector(".lesson progress");
            if (bar) seen.push([words, bar.value, bar.max]);
          }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
        }"""
    )
    view.locator(".lesson input").first.check()
    view.get_by_role("button", name="Run both").click()
    view.locator(".lesson table").wait_for(timeout=60_000)
    seen = view.evaluate("seen")
    counts = [value for _, value, _ in seen]
    assert counts == sorted(counts)
    assert max(counts) > 30  # of both runs, 30 trials each
    assert all(words == f"{value} of {most} trials" for words, value, most in seen)
    assert view.locator(".lesson progress").count() == 0


CELL = """title = "A cell"
[path]
rate = "65 Mbps"
rtt = "20 ms"
buffer = "100 ms"
[[flow]]
name = "main"
controller = "cubic"
download = "2 MB"
"""
WHOSE = ("access point", "client", "neighbours", "several at once", "nobody")
SHARES = """() => [...document.querySelectorAll("[data-airtime]")]
  .map((one) => [one.dataset.airtime, one.textContent])"""


def shows_medium(view: Page, word: str) -> None:
    """Waits until the trial is shown whose medium is set with this word."""
    view.evaluate("thalweg.rerun()")
    assert word in view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")


def test_a_medium_is_chosen_and_its_neighbours_take_airtime(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'cell.toml')", CELL)
    plain = view.evaluate("thalweg.shown.trial.hash")
    assert view.evaluate(SHARES) == []
    medium = view.get_by_label("Medium", exact=True).and_(view.locator("select"))
    assert medium.input_value() == "none"
    assert not view.get_by_label("Neighbours", exact=True).count()

    taken = []
    for count in ("scan", "apartment"):
        medium.select_option(count)
        shows_medium(view, f'"{count}"')
        shares = dict(view.evaluate(SHARES))
        assert tuple(shares) == WHOSE
        percents = {whose: float(text.removesuffix(" %")) for whose, text in shares.items()}
        # Three digits of each.
        assert sum(percents.values()) == pytest.approx(100, abs=0.3)
        taken.append(percents["neighbours"])
    assert taken[0] == 0
    assert 10 < taken[1] < 60

    slider = view.get_by_label("Neighbours", exact=True).and_(view.locator("input"))
    assert slider.get_attribute("aria-valuetext") == "as apartment"
    assert not view.get_by_label("Who hears them", exact=True).count()
    slider.fill("100")
    shows_medium(view, "neighbours")
    # A third of the way from 1 to 63 on a scale of powers: 63^(1/3) is 4, one more than the number.
    written = view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")
    kind = {"airtime": "2 ms", "on": "20 ms", "off": "180 ms"}
    expected = {"model": "wifi", "preset": "apartment", "neighbours": [kind | {"count": 3}]}
    assert tomllib.loads(f"medium = {written}")["medium"] == expected

    heard = view.get_by_label("Who hears them", exact=True).and_(view.locator("select"))
    assert heard.input_value() == "both"
    heard.select_option("access-point")
    shows_medium(view, "access-point")
    assert slider.get_attribute("aria-valuetext") == "3"
    slider.fill("0")
    shows_medium(view, "neighbours = []")
    assert dict(view.evaluate(SHARES))["neighbours"] == "0 %"

    medium.select_option("none")
    shows(view, plain)
    assert view.evaluate("thalweg.shown.setup.sets") == {"path.medium": '"none"'}
    assert view.evaluate(SHARES) == []


def test_a_medium_that_the_scenario_writes_keeps_its_keys_and_can_be_taken_away(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'cell.toml')", CELL)
    plain = view.evaluate("thalweg.shown.trial.hash")
    own = '{ model = "wifi", attempts = 20, neighbours = [{ count = 2, airtime = "1 ms" }, { airtime = "3 ms" }] }'
    view.evaluate(
        "(text) => thalweg.open(text, 'cell.toml')", CELL.replace('"100 ms"', f'"100 ms"\nmedium = {own}')
    )
    medium = view.get_by_label("Medium", exact=True).and_(view.locator("select"))
    assert medium.input_value() == "wifi"
    slider = view.get_by_label("Neighbours", exact=True).and_(view.locator("input"))
    assert slider.get_attribute("aria-valuetext") == "3"
    view.get_by_label("Who hears them", exact=True).and_(view.locator("select")).select_option("neither")
    shows_medium(view, "neither")
    written = tomllib.loads(f'medium = {view.evaluate("""thalweg.shown.setup.sets["path.medium"]""")}')["medium"]
    kind = {"count": 3, "airtime": "1 ms", "heard": "neither"}
    assert written == {"model": "wifi", "attempts": 20, "neighbours": [kind]}
    medium.select_option("none")
    shows(view, plain)
    assert view.evaluate(SHARES) == []
    medium.select_option("half-duplex")
    shows_medium(view, "half-duplex")
