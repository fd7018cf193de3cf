"""The static page of the lab, in Chromium: the native trials, and what a reader does with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import thalweg
from chromium import serious
from lab.conftest import Open, Scheme, shown_hash, shows
from lab.test_server import eventually
from thalweg import Scenario, ScenarioError

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.timeout(300)  # longer than others: a loaded machine must not fail them
C4 = [name for name in thalweg.list_scenarios() if name.startswith("c4/")]


# tests/web has them all played by the same code under Node.
@pytest.mark.parametrize("names", [C4[::9], pytest.param(C4, marks=pytest.mark.soak)], ids=["some", "all"])
def test_scenarios_of_c4_have_the_trace_hashes_of_the_native_engine(one_page: Page, names: list[str]) -> None:
    texts = [[name, Scenario.load(name).toml] for name in names]
    found = one_page.evaluate(
        """async (texts) => {
          const found = {};
          for (const [origin, text] of texts) found[origin] = (await thalweg.run({text, origin}, 7n)).hash;
          return found;
        }""",
        texts,
    )
    assert len(C4) > 25
    assert found == {name: Scenario.load(name).run(seed=7).trace_hash for name in names}


def test_the_page_lists_the_suite_and_shows_what_the_native_engine_says(opened: Open) -> None:
    view = opened(settled=True)
    options = view.locator("header.top select option").evaluate_all("(all) => all.map((one) => one.value)")
    assert options == C4
    view.select_option("header.top select", "c4/cubic-short")
    view.wait_for_selector("text=Short, against CUBIC >> visible=true")
    view.wait_for_selector("[data-settled]")
    scenario = Scenario.load("c4/cubic-short")
    native = scenario.run(seed=1)
    assert shown_hash(view) == native.trace_hash
    many = view.evaluate("[...thalweg.shown.many.flows.completion_s]")
    assert many == pytest.approx(scenario.trials(100).flows["completion_s"].to_list(), rel=0, abs=0, nan_ok=True)


def test_a_call_has_a_row_for_each_stream_with_the_numbers_of_the_native_engine(opened: Open) -> None:
    view = opened(settled=True)
    region = view.get_by_role("region", name="numbers of each stream of media")
    assert region.count() == 0
    view.select_option("header.top select", "c4/media-wifi-fade")
    region.wait_for()
    view.wait_for_selector("[data-settled]")
    native = Scenario.load("c4/media-wifi-fade").run(seed=1)
    streams = native.outcomes.streams
    assert region.locator("tbody th").all_inner_texts() == [
        f"{flow} {stream}" for flow, stream in streams.select("flow", "stream").iter_rows()
    ]
    worst = region.locator("[data-column=max_delay_s]").all_inner_texts()
    assert worst == [f"{1e3 * value:.4g} ms" for value in streams["max_delay_s"]]
    late = region.locator("[data-column=late]").all_inner_texts()
    assert late == [str(value) for value in streams["late"]]


def test_a_slider_runs_the_trial_that_set_would_run(opened: Open) -> None:
    view = opened()
    slider = view.get_by_label("Rate", exact=True).and_(view.locator("input"))
    slider.focus()
    for _ in range(3):
        view.keyboard.press("ArrowRight")
    setup = view.evaluate("thalweg.shown.setup")
    assert list(setup["sets"]) == ["path.rate"]
    assert setup["sets"]["path.rate"] != '"10 Mbps"'
    shows(view, Scenario.load("c4/bad-wifi", overrides=setup["sets"]).run(seed=1).trace_hash)
    command = view.evaluate("thalweg.command()")
    assert command.startswith("thalweg run c4/bad-wifi --set 'path.rate=")


@pytest.mark.parametrize(
    ("jitter", "rest"),
    [
        ('{ model = "normal", mean = "7 ms", sd = "2 ms" }', 'sd = "2 ms"'),
        ('{ model = "wifi", mean = "7 ms", formula = "draft" }', 'formula = "draft"'),
        ('{ model = "uniform", min = "2 ms", max = "8 ms" }', 'min = "2 ms"'),
    ],
)
def test_the_mean_of_jitter_leaves_the_rest_of_its_model(opened: Open, jitter: str, rest: str) -> None:
    text = (
        'title = "t"\n[[link]]\nname = "near"\nrate = "20 Mbps"\nrtt = "10 ms"\n'
        f'jitter = {jitter}\n[[link]]\nname = "far"\nrtt = "10 ms"\nrate = "50 Mbps"\n'
        '[[flow]]\nname = "main"\ncontroller = "c4"\ndownload = "1 MB"\nroute = ["near", "far"]\n'
    )
    view = opened()
    view.evaluate("(text) => thalweg.open(text)", text)
    assert "link.near, the first of 2 links" in view.locator("form.path").inner_text()
    slider = view.get_by_label("Mean jitter", exact=True).and_(view.locator("input"))
    told = view.locator(".knob", has=slider).locator("output")
    assert number(told.inner_text()) == pytest.approx(0.005 if "uniform" in jitter else 0.007)
    slider.focus()
    view.keyboard.press("ArrowRight")
    view.evaluate("thalweg.rerun()")
    sets = view.evaluate("thalweg.shown.setup.sets")
    assert view.evaluate("thalweg.shown.refusal") is None
    assert list(sets) == ["link.near.jitter.max" if "uniform" in jitter else "link.near.jitter.mean"]
    assert rest in Scenario.from_toml(text, "t", overrides=sets).toml
    assert number(told.inner_text()) > (0.005 if "uniform" in jitter else 0.007)
    view.select_option("#choice-Jitter", "none")
    assert list(view.evaluate("thalweg.shown.setup.sets")) == ["link.near.jitter"]


def test_controllers_queues_and_jitter_are_chosen_from_lists(opened: Open) -> None:
    view = opened()
    view.select_option("#controller-main", "cubic")
    view.select_option("#choice-Queue-discipline", "fq-codel")
    view.select_option("#choice-Jitter", "none")
    scenario = Scenario.load(
        "c4/bad-wifi",
        overrides={"path.queue": '{ model = "fq-codel" }', "path.jitter": '{ model = "none" }'},
        controllers={"main": "cubic"},
    )
    shows(view, scenario.run(seed=1).trace_hash)


def test_a_wrong_line_is_told_at_that_line_in_the_words_of_the_native_engine(opened: Open) -> None:
    view = opened()
    view.get_by_role("tab", name="Scenario").click()
    view.locator(".cm-content").wait_for()
    text = Scenario.load("c4/bad-wifi").toml
    wrong = text.replace('"10 Mbps"', '"10 Mbs"')
    assert wrong != text
    view.locator(".cm-content").click()
    view.keyboard.press("Control+a")
    view.keyboard.insert_text(wrong)
    with pytest.raises(ScenarioError) as native:
        Scenario.from_toml(wrong, "c4/bad-wifi")
    assert (view.get_by_role("alert").text_content() or "").startswith(str(native.value))
    view.locator(".cm-lintRange-error").first.wait_for()
    marked = view.locator(".cm-lintRange-error").first.inner_text()
    assert '"10 Mbs"' in marked


def test_what_is_typed_is_completed_with_units(opened: Open) -> None:
    view = opened()
    view.get_by_role("tab", name="Scenario").click()
    view.locator(".cm-content").click()
    view.keyboard.press("Control+a")
    view.keyboard.insert_text('title = "t"\n[path]\nrtt = ')
    view.keyboard.press("Control+Space")
    view.get_by_role("option", name='"40 ms"').wait_for()


def test_what_is_completed_closes_once(opened: Open) -> None:
    view = opened()
    view.get_by_role("tab", name="Scenario").click()
    view.locator(".cm-content").click()
    view.keyboard.press("Control+a")
    view.keyboard.press("Delete")
    for typed, option in {"[pa": "[path]", "[[fl": "[[flow]]", 'controller = "bbr': '"bbr"'}.items():
        view.keyboard.type(typed)
        view.get_by_role("option", name=option).first.wait_for()
        view.wait_for_timeout(200)  # the list takes no key for a moment, so that none hits it by chance
        view.keyboard.press("Enter")
        view.keyboard.press("End")
        view.keyboard.press("Enter")
    assert view.evaluate("thalweg.shown.setup.text").split() == ["[path]", "[[flow]]", "controller", "=", '"bbr"']


def test_a_dot_of_the_strip_opens_its_trial(opened: Open) -> None:
    view = opened(settled=True)
    assert view.locator(".dot").count() == 100
    view.locator('.dot[data-trial="41"]').focus()
    view.keyboard.press("Enter")
    assert view.evaluate("String(thalweg.shown.seed)") == "42"
    shows(view, Scenario.load("c4/bad-wifi").run(seed=42).trace_hash)


def test_zoom_and_cursor_are_moved_by_keys_and_values_are_exact(opened: Open) -> None:
    view = opened()
    view.locator(".stack").first.focus()
    view.keyboard.press("+")
    seen = view.evaluate("thalweg.shown.view")
    end = view.evaluate("thalweg.shown.trial.outcomes.trials.end_s[0]")
    assert seen["until"] - seen["from"] == pytest.approx(end / 2)
    view.evaluate("thalweg.zoom(); thalweg.point(1.5)")
    before = """() => {
      const {flows} = thalweg.shown.trial.trace;
      const row = flows.time_s.filter((time) => time <= 1.5).length - 1;
      return flows.window_bytes[row];
    }"""
    told = view.locator('[data-panel="window"] [data-line="congestion window"]').inner_text()
    assert float(told.split()[0]) * 1e3 == pytest.approx(view.evaluate(before), abs=50)
    trace = Scenario.load("c4/bad-wifi").run(seed=1, trace=True).trace
    assert trace is not None
    rows = trace.flows.filter(trace.flows["time_s"] <= 1.5)
    assert view.evaluate(before) == rows["window_bytes"][-1]


def test_two_runs_stand_beside_each_other_or_as_difference(opened: Open) -> None:
    view = opened()
    view.get_by_role("button", name="Keep this run to compare").click()
    view.select_option("#controller-main", "cubic")
    view.wait_for_selector("[data-settled]")
    assert view.locator(".two .chart").count() == 2
    view.evaluate(
        """() => {
          const {fillText} = CanvasRenderingContext2D.prototype;
          window.drawn = [];
          CanvasRenderingContext2D.prototype.fillText = function(word, ...where) {
            window.drawn.push(word);
            fillText.call(this, word, ...where);
          };
        }"""
    )
    view.get_by_label("how two runs are compared").select_option("difference")
    assert view.locator(".chart").count() == 1
    # The capacities are equal, and yet the rates have a scale of Mbps, as those of each run.
    for _ in range(600):  # not wait_for_function: the page allows no script from a text
        if view.evaluate("window.drawn.some((word) => word.endsWith('Mbps'))"):
            break
        view.wait_for_timeout(100)
    assert view.evaluate("window.drawn.some((word) => word.endsWith('Mbps'))")
    assert not view.evaluate("window.drawn.some((word) => word.endsWith('kbps'))")
    assert "cubic" in view.locator(".charts > .quiet").inner_text()


def test_files_are_offered_for_download(opened: Open) -> None:
    view = opened()
    for name, begin in {
        "TOML": b"title",
        "CSV of flows": b"time_s,flow",
        "SVG": b"<svg",
        "PNG": b"\x89PNG",
    }.items():
        with view.expect_download() as download:
            view.get_by_role("button", name=name, exact=True).click()
        assert download.value.path().read_bytes().startswith(begin)


def test_a_scenario_is_saved_under_the_name_that_the_command_reads(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'my own.toml')", Scenario.load("c4/simple-20mbps").toml)
    command = view.evaluate("thalweg.command()")
    with view.expect_download() as download:
        view.get_by_role("button", name="TOML", exact=True).click()
    assert command == f"thalweg run ./{download.value.suggested_filename} --seed 1"
    assert "the command reads it from my-own.toml" in view.locator(".take-away").inner_text()


def test_a_word_of_a_table_is_no_formula_for_a_spreadsheet(opened: Open) -> None:
    """Names of flows begin with a letter; a controller of the reader says what it likes of its state."""
    view = opened(scenario="c4/simple-20mbps")
    code = "export default class Mine { on_ack() {} observe() { return {state: '=1+1'}; } }"
    view.evaluate("(code) => thalweg.bring('mine.js', code)", code)
    view.evaluate("thalweg.controllers({main: './mine.js'})")
    head, *rows = (row.split(",") for row in view.evaluate("thalweg.csv('flows')").splitlines())
    assert {row[head.index("state")] for row in rows} == {"'=1+1"}


def test_a_scenario_is_opened_from_a_file(opened: Open, tmp_path: Path) -> None:
    text = Scenario.load("c4/satellite").toml
    (tmp_path / "mine.toml").write_text(text)
    view = opened()
    view.locator("header input[type=file]").set_input_files(tmp_path / "mine.toml")
    view.wait_for_selector("text=Geostationary satellite >> visible=true")
    shows(view, Scenario.load("c4/satellite").run(seed=1).trace_hash)
    assert view.evaluate("thalweg.command()") == "thalweg run ./mine.toml --seed 1"
    (tmp_path / "long.toml").write_text("#" * (1 << 20) + "#")
    view.locator("header input[type=file]").set_input_files(tmp_path / "long.toml")
    assert "long.toml: it has 1048577 bytes" in view.get_by_role("alert").inner_text()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.soak), "dark"])
def test_axe_finds_nothing_serious(opened: Open, scheme: Scheme) -> None:
    view = opened(scheme=scheme, settled=True)
    for tab in ("Path", "Scenario", "Sweep", "Results", "Lessons", "Controller"):
        view.get_by_role("tab", name=tab).click()
        if tab == "Controller":
            view.get_by_role("button", name="New from newreno.js").click()
        assert serious(view) == {}, tab


def test_nothing_scrolls_sideways(opened: Open) -> None:
    view = opened(width=360, settled=True)
    for width in (360, 400, 800, 1400, 2560):
        view.set_viewport_size({"width": width, "height": 900})
        view.evaluate("document.documentElement.style.fontSize = ''")
        for tab in ("Scenario", "Sweep", "Lessons", "Path"):
            view.get_by_role("tab", name=tab).click()
            assert view.evaluate("document.scrollingElement.scrollWidth") <= width, (tab, width)
        view.evaluate("document.documentElement.style.fontSize = '200%'")
        assert view.evaluate("document.scrollingElement.scrollWidth") <= width, width
        names = view.locator(".knob > label").evaluate_all(
            "(labels) => labels.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
        )
        assert names == [], width  # nothing covers the name of what is chosen


@pytest.mark.soak  # a minute of trials; one lesson runs in test_keyboard.py
def test_every_lesson_runs_and_the_numbers_bear_its_answer_out(opened: Open) -> None:
    view = opened()
    view.get_by_role("tab", name="Lessons").click()
    titles = view.locator(".lessons button").all_inner_texts()
    assert len(titles) >= 8
    found = {}
    for title in titles:
        view.get_by_role("button", name=title, exact=True).click()
        view.locator(".lesson input").first.check()
        view.get_by_role("button", name="Run both").click()
        view.locator(".lesson table").wait_for(timeout=60_000)
        rows = view.locator(".lesson tbody tr").all()
        cells = [(row.locator("th").inner_text(), row.locator("td").all_inner_texts()) for row in rows]
        found[title] = {name: [number(value) for value in values] for name, values in cells}
        if title == "Bufferbloat":  # the queue between its first overflow and the end of what is sent
            queues = view.evaluate(
                """[thalweg.shown.kept, thalweg.shown.trial].map(({trace: {links}, outcomes}) => {
                  const [bottleneck] = [...links.link.words.keys()].sort((one, other) => most(other) - most(one));
                  function most(link) {
                    return Math.max(...links.delivered_bytes.filter((_, row) => links.link.indices[row] === link));
                  }
                  const until = outcomes.flows.completion_s[0] - 1;
                  const isSeen = (time, row) => links.link.indices[row] === bottleneck && time > 2 && time < until;
                  return Math.min(...links.queue_delay_s.filter((_, row) => isSeen(links.time_s[row], row)));
                })"""
            )
            assert 0.01 < queues[0] < 0.02
            assert queues[1] > 0.4
        view.get_by_role("button", name="All lessons").first.click()
    start, bloat, marks, fight, rtt, loss, jitter, c4, call = found.values()
    assert start["packets lost"][0] > start["packets lost"][1]
    assert bloat["mean RTT"][1] > 5 * bloat["mean RTT"][0]
    assert bloat["completed after"] == [pytest.approx(bloat["completed after"][0], rel=0.01)] * 2
    assert marks["packets lost"][1] == 0 < marks["packets marked"][1]
    assert marks["mean wait in queues"][1] < marks["mean wait in queues"][0] / 10
    assert fight["share of BBRv1"][0] > 0.8
    assert fight["share of BBRv1"][1] < 0.2
    assert 0.1 < rtt["share of the distant one"][1] < 0.4
    assert loss["mean rate"][0] < 10e6
    assert loss["mean rate"][1] > 20e6  # 40 % of the link, and twice what CUBIC has
    assert jitter["mean RTT"][1] > 2 * jitter["mean RTT"][0]
    assert jitter["mean wait in queues"][1] < jitter["mean wait in queues"][0]
    assert c4["completed after"][1] < c4["completed after"][0] / 1.5
    assert call["late frames of audio"][0] > 25
    assert call["late frames of audio"][1] < 5


def number(text: str) -> float:
    """`12.3 ms` in seconds."""
    value, *unit = text.split()
    factors = {"s": 1, "ms": 1e-3, "us": 1e-6, "Mbps": 1e6, "kbps": 1e3, "Gbps": 1e9, "%": 0.01}
    return float(value) * (factors[unit[0]] if unit else 1)


def test_the_script_of_the_manual_runs(opened: Open) -> None:
    manual = (Path(__file__).parents[2] / "docs/how-to/lab.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```javascript\n(.*?)```", manual, flags=re.DOTALL)
    view = opened()
    found = view.evaluate(
        f"async () => {{ {script} return [thalweg.shown, trial.hash, outcomes.trials.trace_hash]; }}"
    )
    native = Scenario.load("c4/simple-20mbps")
    changed = Scenario.load("c4/simple-20mbps", overrides={"path.rtt": "30 ms"}, controllers={"main": "bbr"})
    assert found[0]["trial"]["hash"] == changed.run(seed=5).trace_hash
    assert found[0]["view"] == {"from": 1, "until": 2}
    assert found[0]["cursor"] == 1.5
    assert found[1] == native.run(seed=7).trace_hash
    assert found[2] == [native.run(seed=seed).trace_hash for seed in (1, 2, 3)]


@pytest.mark.realtime
def test_a_slider_keeps_up_and_a_hundred_trials_take_a_moment(opened: Open) -> None:
    """A bound for loaded machines; docs/how-to/lab.md has what a quiet one does."""
    view = opened(settled=True)
    took = view.evaluate(
        """async () => {
          const {text} = thalweg.scenarios[0];
          await thalweg.open(text, "c4/simple-20mbps");
          const begin = performance.now();
          for (let rate = 10; rate < 30; rate++) await thalweg.set({"path.rate": `"${rate} Mbps"`});
          const slid = performance.now();
          await thalweg.trials({text});
          return {slider: (slid - begin) / 20, hundred: performance.now() - slid};
        }"""
    )
    assert took["slider"] < 250
    assert took["hundred"] < 5_000


@pytest.mark.parametrize("other", ["another controller", "another scenario"])
def test_panels_of_two_runs_stand_in_line_where_there_is_room(opened: Open, other: str) -> None:
    view = opened(settled=True, width=1400)
    view.evaluate("thalweg.keep()")
    if other == "another controller":
        view.evaluate("thalweg.controllers({main: 'cubic'})")  # without drops: another legend
    else:
        view.evaluate("thalweg.open(thalweg.scenarios.find(({name}) => name === 'c4/media-bad-wifi').text)")
    view.evaluate("thalweg.point(1)")
    places = """() => [...document.querySelectorAll(".two .stack")].map((stack) => Object.fromEntries(
      [...stack.querySelectorAll("[data-panel]")].map((panel) => [
        panel.dataset.panel, Math.round(panel.querySelector("canvas").getBoundingClientRect().top)])))"""

    def stand(in_line: bool) -> bool:
        charts = view.evaluate(places)
        assert len(charts) == 2
        common = charts[0].keys() & charts[1].keys()
        below = all(list(tops.values()) == sorted(set(tops.values())) for tops in charts)
        return (
            below and len(common) > 3 and all((charts[0][name] == charts[1][name]) == in_line for name in common)
        )

    assert eventually(lambda: stand(in_line=True), 60)
    view.set_viewport_size({"width": 800, "height": 900})
    assert eventually(lambda: stand(in_line=False), 60)
