"""The animation shows the packets that the native engine plays: both engines, two widths, by mouse and by keys."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import pytest
from websockets.exceptions import ConnectionClosed

from chromium import serious
from lab.conftest import Load, Open, Scheme
from lab.test_server import Lab, running
from thalweg import Scenario

if TYPE_CHECKING:
    from playwright.sync_api import Page

Visit: TypeAlias = "Callable[..., Page]"
pytestmark = pytest.mark.timeout(300)

SHARED = """title = "Two flows, a marking queue, loss"
path = { rate = "10 Mbps", rtt = "40 ms", loss = "0.5 %", queue = { model = "dualpi2" } }
flow = [
    { name = "main", controller = "prague", download = "2 MB" },
    { name = "other", controller = "cubic", download = "2 MB" },
]
"""
MOST = 100_000
SERVED = pytest.param("server", 400, marks=pytest.mark.soak)
ENGINES = pytest.mark.parametrize(("address", "width"), [("page", 1300), SERVED], indirect=["address"])
"""Each engine, and each width: what an engine sends does not depend on the width, nor the layout on the engine."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running(tmp_path_factory.mktemp("lab")) as found:
        yield found


@pytest.fixture(params=["page", "server"])
def address(request: pytest.FixtureRequest, static: str) -> str:
    """The page with one of its engines."""
    return static if request.param == "page" else request.getfixturevalue("lab").address


@pytest.fixture
def visit(load: Load) -> Visit:
    """Opens an address."""

    def open_(address: str, width: int = 1300) -> Page:
        view = load(address, width, "light", "")
        view.wait_for_selector("[data-ready]", timeout=60_000)
        return view

    return open_


def wait(view: Page, link: str = "") -> None:
    """Until the packets of the moment are shown; the policy of the page allows no script that waits there."""
    for _ in range(1200):
        found = view.evaluate("thalweg.shown.packets?.link")
        if found and link in ("", found):
            return
        view.wait_for_timeout(50)
    raise AssertionError("the packets do not come")


def at(packets: pl.DataFrame, link: str, time: float) -> dict[str, Any]:
    """What is on a link at a time."""
    own = packets.filter(pl.col("link") == link)
    waiting = own.filter((pl.col("entered_s") <= time) & (time < pl.col("left_s")))
    transmitted = own.filter(pl.col("fate").is_in(["delivered", "loss"]))
    sent = transmitted.filter((pl.col("left_s") <= time) & (time < pl.col("sent_s")))
    delivered = own.filter((pl.col("fate") == "delivered") & (pl.col("sent_s") <= time))
    travelling = delivered.filter(time < pl.col("due_s"))
    held = delivered.filter((pl.col("due_s") <= time) & (time < pl.col("arrived_s")))
    return {
        "packets": waiting.height,
        "bytes": int(waiting["size_bytes"].sum()),
        "sending": sent.height,
        "travelling": travelling.height,
        "held": held.height,
    }


@pytest.mark.parametrize(
    ("address", "width", "name"),
    [
        ("page", 1300, "c4/bad-wifi"),
        ("server", 400, "shared"),
        pytest.param("page", 1300, "shared", marks=pytest.mark.soak),
        pytest.param("server", 400, "c4/bad-wifi", marks=pytest.mark.soak),
    ],
    indirect=["address"],
)
def test_each_moment_has_the_packets_of_the_native_trial(
    visit: Visit, address: str, width: int, name: str
) -> None:
    scenario = Scenario.from_toml(SHARED, "shared.toml") if name == "shared" else Scenario.load(name)
    packets = scenario.packets(seed=1)
    view = visit(address, width)
    view.evaluate("([text, name]) => thalweg.open(text, name)", [scenario.toml, name])
    view.get_by_role("button", name="Watch the packets").click()
    wait(view)
    end = view.evaluate("thalweg.shown.trial.outcomes.trials.end_s[0]")
    # Of native times too, where something happens: before, at and after it.
    some = packets["left_s"].gather_every(packets.height // 12).to_list()
    busy = 0
    for time in [*(end * step / 20 for step in range(21)), *some]:
        view.evaluate("(time) => thalweg.point(time)", time)
        wait(view)
        shown = view.evaluate("thalweg.shown.packets")
        assert shown["time"] == pytest.approx(time, abs=1e-12)  # the page counts whole nanoseconds
        for lane, link in {"ahead": "down", "back": "up"}.items():
            expected = at(packets, link, time)
            sending = shown[lane]["sending"] is not None
            found = {key: shown[lane][key] for key in ("packets", "bytes", "travelling", "held")}
            assert {**found, "sending": int(sending)} == expected, (time, link)
            busy += expected["packets"]
    assert busy > 10
    words = view.locator(".moment").inner_text()
    assert f"{at(packets, 'down', time)['packets']} packet" in words
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width


def both(view: Page, link: str = "") -> dict[str, dict[str, Any]]:
    """The packets of the kept run and of the present one, as soon as both are shown, on one link."""
    for _ in range(1200):
        shown: dict[str, dict[str, Any]] = view.evaluate(
            "({kept: thalweg.shown.keptPackets, present: thalweg.shown.packets})"
        )
        if all(found and link in ("", found["link"]) for found in shown.values()):
            return shown
        view.wait_for_timeout(50)
    raise AssertionError("the packets of two runs do not come")


@ENGINES
def test_two_runs_that_are_compared_have_the_packets_of_their_native_trials(
    visit: Visit, address: str, width: int
) -> None:
    scenario = Scenario.from_toml(SHARED, "shared.toml")
    other = Scenario.from_toml(SHARED.replace('"prague"', '"c4"'), "shared.toml")
    runs = {"kept": scenario.packets(seed=1), "present": other.packets(seed=7)}
    view = visit(address, width)
    view.evaluate("(text) => thalweg.open(text, 'shared')", SHARED)
    view.get_by_role("button", name="Watch the packets").click()
    view.get_by_role("button", name="Keep this run to compare").click()
    assert both(view)["kept"] == both(view)["present"]
    view.evaluate("thalweg.controllers({main: 'c4'})")
    view.evaluate("thalweg.seed(7)")
    ends = view.evaluate("['kept', 'trial'].map((name) => thalweg.shown[name].outcomes.trials.end_s[0])")
    differ = 0
    for time in [max(ends) * step / 20 for step in range(21)]:
        view.evaluate("(time) => thalweg.point(time)", time)
        shown = both(view)
        for name, packets in runs.items():
            assert shown[name]["time"] == time
            for lane, link in {"ahead": "down", "back": "up"}.items():
                found = shown[name][lane]
                expected = at(packets, link, time)
                assert found["packets"] == expected["packets"], (name, link, time)
                assert found["travelling"] == expected["travelling"], (name, link, time)
        differ += shown["kept"]["ahead"]["packets"] != shown["present"]["ahead"]["packets"]
    assert differ > 10
    names = view.locator(".watch h3").all_inner_texts()
    assert [name.partition(", over since")[0] for name in names] == ["prague, cubic, seed 1", "c4, cubic, seed 7"]
    assert view.locator(".scene").count() == 2
    cells = view.locator('.watch [data-cell="queue"]').all_inner_texts()
    assert [cell.split()[0] for cell in cells] == [
        str(at(packets, "down", time)["packets"]) for packets in runs.values()
    ]
    assert view.evaluate("document.scrollingElement.scrollWidth") <= width


@ENGINES
def test_two_runs_share_steps_link_and_clock(visit: Visit, address: str, width: int) -> None:
    view = visit(address, width)
    view.evaluate("(text) => thalweg.open(text, 'shared')", SHARED)
    view.evaluate("thalweg.keep()")
    view.evaluate("thalweg.seed(7)")
    view.evaluate("thalweg.watch()")
    both(view)
    times = [
        Scenario.from_toml(SHARED, "shared.toml").packets(seed=seed)[name]
        for name in ("entered_s", "marked_s", "left_s", "sent_s", "arrived_s")
        for seed in (1, 7)
    ]
    later = sorted(pl.concat(times).filter(pl.concat(times) > 1.0).unique())
    view.evaluate("thalweg.point(1)")
    for scene in (0, 1):
        view.locator(".scene").nth(scene).focus()
        view.keyboard.press(".")
        assert view.evaluate("thalweg.shown.cursor") == later[scene]
    view.keyboard.press(",")
    assert view.evaluate("thalweg.shown.cursor") == later[0]
    events = [event for shown in both(view).values() for event in shown["events"]]
    assert events
    said = view.locator(".watch [role=status]").text_content() or ""
    assert all(event in said for event in events[:3])
    assert all(name in said for name in view.locator(".watch h3").all_inner_texts())
    view.get_by_label("link whose queue is seen").select_option("up")
    both(view, "up")
    view.evaluate("thalweg.animate(0.1)")
    passed(view, later[0] + 0.01)
    view.evaluate("thalweg.pause()")
    assert len({shown["time"] for shown in both(view).values()}) == 1
    view.get_by_role("button", name="Stop comparing").click()
    view.locator(".scene").nth(1).wait_for(state="detached")
    assert view.locator(".scene").count() == 1
    assert view.evaluate("thalweg.shown.keptPackets") is None


def test_the_queue_is_that_of_the_native_trace(opened: Open) -> None:
    """Packets and delay, at samples of the native trace, of which the last of an instant stays."""
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'shared')", SHARED)
    view.evaluate("thalweg.watch()")
    trace = Scenario.from_toml(SHARED, "shared.toml").run(seed=1, trace=True).trace
    assert trace is not None
    down = trace.links.filter(pl.col("link") == "down").unique("time_s", keep="last", maintain_order=True)
    waited = 0.0
    for sample in down.gather_every(down.height // 40).iter_rows(named=True):
        view.evaluate("(time) => thalweg.point(time)", sample["time_s"])
        ahead = view.evaluate("thalweg.shown.packets.ahead")
        assert ahead["packets"] == sample["queue_packets"]
        assert ahead["bytes"] == sample["queue_bytes"]
        assert ahead["delay"] == pytest.approx(sample["queue_delay_s"], abs=1e-8)
        assert ahead["dropped"] == sample["dropped_packets"]
        assert ahead["marked"] == sample["marked_packets"]
        waited = max(waited, ahead["delay"])
    assert waited > 0.005


@ENGINES
def test_events_are_stepped_through_by_buttons_and_by_keys(visit: Visit, address: str, width: int) -> None:
    view = visit(address, width)
    view.evaluate("(text) => thalweg.open(text, 'shared')", SHARED)
    view.evaluate("thalweg.watch()")
    packets = Scenario.from_toml(SHARED, "shared.toml").packets(seed=1)
    times = pl.concat([packets[name] for name in ("entered_s", "marked_s", "left_s", "sent_s", "arrived_s")])
    later = sorted(times.filter(times > 1.0).unique())
    view.evaluate("thalweg.point(1)")
    view.get_by_role("button", name="next event").click()
    assert view.evaluate("thalweg.shown.cursor") == later[0]
    view.locator(".scene").focus()
    view.keyboard.press(".")
    view.keyboard.press(".")
    assert view.evaluate("thalweg.shown.cursor") == later[2]
    view.keyboard.press(",")
    assert view.evaluate("thalweg.shown.cursor") == later[1]
    happened = view.evaluate("thalweg.shown.packets.events")
    assert happened
    assert happened[0] in view.locator(".watch .now").inner_text()
    assert happened[0] in (view.locator(".watch [role=status]").text_content() or "")
    slider = view.get_by_label("moment", exact=True)
    slider.focus()
    view.keyboard.press("ArrowRight")
    end = view.evaluate("thalweg.shown.view.until")
    assert view.evaluate("thalweg.shown.cursor") == pytest.approx(later[1] + end / 1000, abs=end / 1000)
    view.locator(".scene").focus()
    view.keyboard.press("End")
    assert view.evaluate("thalweg.shown.cursor") == end


def passed(view: Page, time: float) -> None:
    """Until the cursor has passed a time: a loaded machine may need long for a frame."""
    for _ in range(600):
        if view.evaluate("thalweg.shown.cursor") > time:
            return
        view.wait_for_timeout(100)
    raise AssertionError(f"the cursor does not pass {time} s")


@ENGINES
def test_it_plays_at_the_chosen_speed_and_pauses(visit: Visit, address: str, width: int) -> None:
    view = visit(address, width)
    view.get_by_role("button", name="Watch the packets").click()
    view.get_by_label("speed").select_option("0.1")
    view.evaluate("thalweg.point(0.5)")
    wait(view)
    begin = view.evaluate("performance.now()")
    view.get_by_role("button", name="Play", exact=True).click()
    passed(view, 0.52)
    moved, took = view.evaluate(
        "(begin) => [thalweg.shown.cursor - 0.5, (performance.now() - begin) / 1000]", begin
    )
    # Frames that come late do not skip ahead, so a loaded machine plays slower; no machine plays faster.
    assert moved <= 0.1 * took
    view.locator(".scene").focus()
    view.keyboard.press("Space")
    stood = view.evaluate("[thalweg.shown.playing, thalweg.shown.cursor]")
    view.wait_for_timeout(200)
    assert [False, view.evaluate("thalweg.shown.cursor")] == stood
    # A mouse that passes over the charts moves the cursor only while it stands.
    view.get_by_role("button", name="Play", exact=True).click()
    view.locator(".stack").first.hover(position={"x": 80, "y": 60})
    passed(view, stood[1])
    view.evaluate("thalweg.pause()")
    # It ends with the trial, and begins again from its start.
    last = view.evaluate("thalweg.point(1e9); thalweg.shown.cursor")
    view.evaluate("thalweg.animate(0.01)")
    passed(view, 0)
    assert view.evaluate("thalweg.shown.cursor") < last / 2


def test_little_motion_is_respected(visit: Visit, static: str) -> None:
    view = visit(static)
    view.emulate_media(reduced_motion="reduce")
    view.reload()
    view.wait_for_selector("[data-ready]", timeout=60_000)
    seen = view.evaluate(
        """async () => {
          await thalweg.watch();
          thalweg.point(0.5);
          thalweg.animate(0.1);
          const [seen, begin] = [[], performance.now()];
          while (seen.length < 5 && performance.now() - begin < 60000) {
            const time = await new Promise(requestAnimationFrame);
            const {cursor} = thalweg.shown;
            if (cursor !== seen.at(-1)?.[0]) seen.push([cursor, time]);
          }
          return seen;
        }"""
    )
    cursors = [cursor for cursor, _ in seen]
    assert len(seen) == 5
    assert cursors == sorted(cursors)
    # At most two pictures a second: from the first that moved to the last there are three steps of half a second.
    assert seen[-1][1] - seen[1][1] > 3 * 500 - 100


def colours(view: Page) -> set[tuple[int, ...]]:
    found = view.locator(".scene canvas").evaluate(
        """(canvas) => {
          const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const found = new Set();
          for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join());
          }
          return [...found];
        }"""
    )
    return {tuple(int(part) for part in colour.split(",")) for colour in found}


def test_flows_have_their_colours_of_the_charts(opened: Open) -> None:
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 'shared')", SHARED)
    view.evaluate("thalweg.watch()")
    view.evaluate("thalweg.point(0)")
    view.wait_for_timeout(300)
    blue, vermilion = (0, 0x72, 0xB2), (0xD5, 0x5E, 0)
    wait(view)
    assert colours(view)  # the picture is there
    assert vermilion not in colours(view)
    view.evaluate("thalweg.point(1)")
    for _ in range(600):
        if {blue, vermilion} <= colours(view):
            break
        view.wait_for_timeout(100)
    assert {blue, vermilion} <= colours(view)


@pytest.mark.soak  # millions of packets
def test_a_long_trial_is_held_in_parts_that_follow_the_cursor(visit: Visit, address: str) -> None:
    text = (
        'title = "long"\ntime_limit = "3 s"\n[path]\nrate = "1 Gbps"\nrtt = "10 ms"\nbuffer = "20 ms"\n'
        '[[flow]]\nname = "main"\ncontroller = "cubic"\ndownload = "10 GB"\n'
    )
    packets = Scenario.from_toml(text, "long.toml").packets(seed=1)
    assert packets.height > 2 * MOST
    view = visit(address)
    view.evaluate("(text) => thalweg.open(text, 'long')", text)
    view.evaluate("thalweg.watch()")
    view.evaluate("thalweg.point(0.01)")
    assert "100,000 packets are held" in view.locator(".watch").inner_text()
    for time in (2.5, 0.1, 1.7, 3.0):
        view.evaluate("(time) => thalweg.point(time)", time)
        wait(view)
        shown = view.evaluate("thalweg.shown.packets")
        expected = at(packets, "down", time)
        assert shown["ahead"]["packets"] == expected["packets"]
        assert shown["ahead"]["travelling"] == expected["travelling"]
    part = view.evaluate("async (text) => (await thalweg.packets({text}, 1, 1.5, 500)).tables.packets", text)
    assert len(part["entered_s"]) <= 500


def test_links_are_chosen_and_another_scenario_begins_with_its_bottleneck(opened: Open) -> None:
    text = (
        'title = "t"\n[[link]]\nname = "near"\nrate = "50 Mbps"\nrtt = "10 ms"\n'
        '[[link]]\nname = "far"\nrtt = "10 ms"\n'
        'rate = "10 Mbps"\nbuffer = "20 ms"\n[[flow]]\nname = "main"\ncontroller = "cubic"\ndownload = "1 MB"\n'
        'route = ["near", "far"]\n'
    )
    packets = Scenario.from_toml(text, "t.toml").packets(seed=1)
    view = opened()
    view.evaluate("(text) => thalweg.open(text, 't')", text)
    view.evaluate("thalweg.watch()")
    chooser = view.get_by_label("link whose queue is seen")
    assert chooser.input_value() == "far"
    chooser.select_option("near up")
    view.evaluate("thalweg.point(0.3)")
    wait(view, "near up")
    shown = view.evaluate("thalweg.shown.packets")
    assert shown["ahead"]["travelling"] == at(packets, "near up", 0.3)["travelling"]
    assert shown["back"]["travelling"] == at(packets, "near", 0.3)["travelling"]
    view.evaluate("thalweg.open(thalweg.scenarios[0].text, 'another')")
    wait(view, "down")


@pytest.mark.parametrize(
    "wrong", [{"most": 1_000_001}, {"most": -1}, {"most": True}, {"fromS": -1}, {"fromS": "0"}, {"fromS": 1e999}]
)
def test_the_server_refuses_more_packets_than_it_gives(lab: Lab, wrong: dict[str, Any]) -> None:
    setup = {"text": SHARED, "origin": "t", "sets": {}, "controllers": {}}
    call = {"id": 1, "name": "packets", "setup": setup, "seed": "1", "fromS": 0, "most": 10, **wrong}
    with lab.socket() as connection:
        connection.send(json.dumps(call))
        with pytest.raises(ConnectionClosed, match="packets are asked for from a time on"):
            connection.recv()


def test_frames_are_drawn_as_long_as_it_plays(opened: Open) -> None:
    """Counts frames, however long they take: lab/README.md has how many a quiet machine draws."""
    view = opened(settled=True)
    view.evaluate("thalweg.watch()")
    view.evaluate("thalweg.point(1); thalweg.animate(0.01)")
    found = view.evaluate(
        """async () => {
          const [cursors, begin] = [[], performance.now()];
          while (cursors.length < 30 && performance.now() - begin < 120000) {
            await new Promise(requestAnimationFrame);
            cursors.push(thalweg.shown.cursor);
          }
          return cursors;
        }"""
    )
    assert len(found) == 30
    # Each frame moves the cursor, but for one that is seen before the player has seen it.
    assert len(set(found)) >= 20
    # A frame stands for at most 0.1 s of the reader: late ones do not skip ahead.
    steps = [later - earlier for earlier, later in itertools.pairwise(found)]
    assert all(0 <= step <= 2 * 0.1 * 0.01 for step in steps)


@pytest.mark.parametrize(("scheme", "runs"), [("light", 1), ("dark", 2)])
def test_axe_finds_nothing_serious_in_the_animation(opened: Open, scheme: Scheme, runs: int) -> None:
    view = opened(scheme=scheme)
    view.evaluate("thalweg.watch()")
    if runs == 2:
        view.evaluate("thalweg.keep()")
        both(view)
    wait(view)
    assert serious(view) == {}


@pytest.mark.parametrize("runs", [1, 2])
def test_the_animation_has_room_also_at_twice_the_size_of_text(opened: Open, runs: int) -> None:
    view = opened(width=360)
    view.evaluate("thalweg.watch()")
    if runs == 2:
        view.evaluate("thalweg.keep()")
        both(view)
    wait(view)
    for width in (360, 800, 2560):
        view.set_viewport_size({"width": width, "height": 900})
        for size in ("200%", "100%"):
            view.evaluate("(size) => (document.documentElement.style.fontSize = size)", size)
            assert view.evaluate("document.scrollingElement.scrollWidth") <= width
        high = "document.querySelector('.watch').getBoundingClientRect().height"
        before = view.evaluate(f"thalweg.point(1), {high}")
        view.evaluate("thalweg.animate(0.1)")
        heights = set()
        for _ in range(10):
            view.wait_for_timeout(50)
            heights.add(view.evaluate(high))
        view.evaluate("thalweg.pause()")
        assert heights == {before}
