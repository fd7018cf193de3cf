"""Hunts: what a plan means, what is wrong with one, and what comes out of a search."""

from __future__ import annotations

import json
import random
import re
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hunt.fragile import FRAGILE
from thalweg import Find, Hunt, Scenario
from thalweg.base.errors import RequestError
from thalweg.base.quantity import measure
from thalweg.cli import main
from thalweg.engine.catalogue import Suite
from thalweg.experiments.hunt.keep import place_of, save
from thalweg.experiments.hunt.objective import KINDS, Objective
from thalweg.experiments.hunt.plan import KEYS, SAMPLERS, hunt_of
from thalweg.experiments.sweep.plan_file import PlanFile
from thalweg.pages.lab_link import fragment_of
from thalweg.results.provenance import TIMES, Provenance
from thalweg.trials.threads import Threads

Capture = pytest.CaptureFixture[str]
jsonschema: Any = import_module("jsonschema")  # altair brings it along, without types
DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "hunt").with_suffix(".md")

PLAN = """\
objective = "slowdown"
budget = 24
fixed = ["flow.main.download"]

[scenario]
title = "Short"
[scenario.path]
rate = "10 Mbps"
rtt = "20 ms"
[[scenario.flow]]
name = "main"
controller = "cubic"
download = "200 kB"

[axes]
"path.rtt" = { from = "10 ms", to = "100 ms", scale = "log" }
"path.buffer" = ["10 packets", "40 packets"]

[[elements]]
list = "path.change"
most = 2
keys = { at = { from = "0 s", to = "1 s" }, rate = { from = "1 Mbps", to = "20 Mbps", scale = "log" } }

[[elements]]
list = "flow"
most = 2
keys = { controller = ["cubic", "c4"], download = ["100 kB"] }
"""


@pytest.fixture(name="plan")
def plan_file(tmp_path: Path) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def told(find: Find) -> dict[str, Any]:
    return {name: value for name, value in find.document().items() if name not in TIMES}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_plan_finds_the_same_with_any_number_of_threads(plan: Path, sampler: str) -> None:
    plan.write_text(f'sampler = "{sampler}"\n{PLAN}', encoding="utf-8")
    hunt = Hunt.load(plan)
    assert told(hunt.run(executor=Threads(1))) == told(hunt.run(executor=Threads(8)))


def test_a_find_is_a_scenario_that_holds_its_objective(plan: Path) -> None:
    hunt = Hunt.load(plan)
    find = hunt.run()
    assert find.is_worse
    assert find.value >= find.baseline + 0.9 * (find.found_value - find.baseline)
    scenario = Scenario.from_toml(find.text(find.shrunk, find.value), "find")
    trial = scenario.run(find.seed)
    flow = trial.flows.row(0, named=True)
    # The first flow is the main one, whose floor is shown.
    assert (flow["completion_s"] - flow["start_s"]) / float(scenario.floor_s or 0) == pytest.approx(find.value)
    assert trial.verdict().answer == "fails", "the criterion says that it is there"
    assert find.shrunk["flow"][0]["download"] == find.found["flow"][0]["download"], "it is fixed"


def test_a_search_that_finds_nothing_worse_says_so(tmp_path: Path, capsys: Capture) -> None:
    plan = tmp_path / "plan.toml"
    text = PLAN.partition("[axes]")[0].replace("budget = 24", "budget = 3")
    plan.write_text(f'{text}[axes]\n"path.rtt" = ["20 ms"]\n', encoding="utf-8")
    words = ["hunt", str(plan), "--out", str(tmp_path / "out"), "--keep", str(tmp_path / "corpus"), "--no-figure"]
    (tmp_path / "out").mkdir()
    for stale in ("find.toml", "found.toml", "find.html"):
        (tmp_path / "out" / stale).write_text("{}", encoding="utf-8")
    older = Provenance().head("hunt", "older", "An older hunt", None, seed=1, trials=1)
    (tmp_path / "out" / "experiment.json").write_text(json.dumps(older), encoding="utf-8")
    assert main(words) == 5
    printed = capsys.readouterr()
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"experiment.json", "trials"}, (
        "nothing that calls itself a find"
    )
    assert "nothing found: none of 3 scenarios is worse than the plan's" in printed.out
    document = json.loads((tmp_path / "out" / "experiment.json").read_text(encoding="utf-8"))
    assert document["says"] == "nothing found"
    assert not (tmp_path / "corpus").exists()


def test_the_command_writes_a_find_and_keeps_it_in_a_suite(plan: Path, tmp_path: Path, capsys: Capture) -> None:
    out, corpus = tmp_path / "out", tmp_path / "corpus"
    words = ["hunt", str(plan), "--out", str(out), "--keep", str(corpus), "--format", "json", "--budget", "8"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["scenarios"], len(document["history"]), document["complete"]) == (8, 8, True)
    assert json.loads((out / "experiment.json").read_text()) == document
    assert (out / "find.toml").read_text() == document["scenario"]
    assert {file.name for file in out.iterdir()} == {
        "find.toml",
        "found.toml",
        "find.html",
        "experiment.json",
        "trials",
    }
    (entry,) = Suite.find(corpus).entries
    assert entry.read().decode() == document["scenario"]
    assert main(["suite", str(corpus), "-n", "2", "--out", str(tmp_path / "suite"), "--no-report"]) == 1
    capsys.readouterr()
    for stale in ("failed-7.toml", "find.html"):
        (out / stale).write_text("old", encoding="utf-8")
    assert main([*words, "--no-figure"]) == 0, "again: it is not kept twice"
    left = {"find.toml", "found.toml", "experiment.json", "trials"}
    assert {file.name for file in out.iterdir()} == left, "nothing stale"
    assert len(Suite.find(corpus).entries) == 1


def test_ctrl_c_keeps_the_worst_so_far(plan: Path) -> None:
    seen = []

    def interrupt(name: str, done: int, total: int) -> None:
        seen.append(done)
        if done >= 16:
            raise KeyboardInterrupt

    find = Hunt.load(plan).run(on_progress=interrupt)
    assert (find.complete, find.tried) == (False, 16)
    assert find.found_value == max(value for value in find.history if value is not None)
    out = plan.parent / "out"
    assert place_of(find, out) == out
    out.mkdir()
    (out / "experiment.json").write_text(json.dumps({**find.document(), "complete": True}), encoding="utf-8")
    assert place_of(find, out) == out / ".unfinished", "a find that was checked stays"
    save(find, place_of(find, out), figure=False)
    assert (out / ".unfinished" / "find.toml").is_file()
    assert not (out / "find.toml").exists()
    save(find, out, figure=False)
    assert not (out / ".unfinished").exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"slowdown"', '"slowdonw"', "did you mean slowdown?"),
        ('"slowdown"', '"taken"', "taken needs at least two flows"),
        ('"slowdown"', '"harm"', "harm is now taken; harm means: what a flow loses"),
        (
            '"slowdown"',
            '"completion"',
            "completion is now slowdown; completion means: from the start of the trial",
        ),
        ('"slowdown"', '"starvation"', "starvation is now capacity-starvation; starvation means: longest time"),
        ('"slowdown"', '"frames"', "frames is now missed-frames"),
        ('"slowdown"', '"missed-frames"', "main sends no frames"),
        ('"slowdown"', '"frozen"', "frozen requires a flow with call or media; main sends no frames"),
        ('"slowdown"', '{ kind = "regret", reference = "cubik" }', "cubik"),
        ('"slowdown"', '{ kind = "loss", flow = "mian" }', "did you mean main?"),
        ("budget = 24", "budget = 0", ":2: budget = 0: accepted: a whole number, 1 to 1000000"),
        ("budget = 24", "budgets = 24", ":2: budgets: unknown key; did you mean budget?"),
        ("budget = 24", "keep = 2", "accepted: a share above 0"),
        ("budget = 24", 'sampler = "cma"', "accepted: evolution, tpe, random"),
        ('"path.rtt"', '"path.rt"', "path.rt"),
        ('"100 ms", scale', '"100 Mbps", scale', "different units"),
        ('list = "path.change"', 'list = "path.chnge"', "chnge"),
        ("most = 2", "most = 99", "elements.0.most = 99: accepted: a whole number, 1 to 20"),
        ('rate = { from = "1 Mbps"', 'rat = { from = "1 Mbps"', "rat"),
        *(
            ('list = "path.change"', f'list = "{name}"', f'elements.0.list = "{name}": it is not a list of tables')
            for name in ("path.rate", "path", "flow.main", "path.rate.x", "path.rate.x.y")
        ),
        ("most = 2", 'most = 2\noptional = [["at"]]', "elements.0.optional"),
        (
            "flow.main.download",
            "flow.main.downlaod",
            'fixed.0 = "flow.main.downlaod": no scenario of the plan has it; did you mean flow.main.download',
        ),
        ("flow.main.download", "flow.flow2.start", "no scenario of the plan has it"),
        ("keys = { controller", 'optional = ["x"]\nkeys = { controller', "accepted: some of controller, download"),
    ],
)
def test_a_mistake_is_one_message_with_its_place(
    plan: Path, capsys: Capture, old: str, new: str, says: str
) -> None:
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new, 1), encoding="utf-8")
    assert main(["hunt", str(plan), "--out", str(plan.parent / "out")]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert re.search(r"plan\.toml(:\d+)?:", message)
    assert message.count("\n") <= 2


def test_a_folder_with_something_else_is_refused(plan: Path, capsys: Capture) -> None:
    assert main(["hunt", str(plan), "--out", str(plan.parent)]) == 2
    assert "is not empty and holds no hunt" in capsys.readouterr().err


def test_a_controller_that_raises_is_a_find_too(plan: Path, capsys: Capture) -> None:
    (plan.parent / "fragile.py").write_text(FRAGILE, encoding="utf-8")
    plan.write_text(
        PLAN.replace("[axes]", '[controllers]\nmain = "fragile.py"\n[axes]').replace('"100 ms"', '"400 ms"'),
        encoding="utf-8",
    )
    out = plan.parent / "out"
    assert main(["hunt", str(plan), "--out", str(out), "--no-figure", "--budget", "16"]) == 1
    assert "too far" in capsys.readouterr().err
    assert "too far" in (out / "failed-1.toml").read_text(encoding="utf-8")


def test_what_no_browser_can_run_has_no_link(plan: Path, capsys: Capture) -> None:
    (plan.parent / "fragile.py").write_text(FRAGILE, encoding="utf-8")
    plan.write_text(PLAN.replace("[axes]", '[controllers]\nmain = "fragile.py"\n[axes]'), encoding="utf-8")
    assert main(["hunt", str(plan), "--out", str(plan.parent / "out"), "--no-figure", "--budget", "8"]) == 0
    printed = capsys.readouterr().out
    assert "thalweg run" in printed
    assert "in the lab" not in printed


def test_without_a_figure_the_link_is_printed_all_the_same(plan: Path, capsys: Capture) -> None:
    assert main(["hunt", str(plan), "--out", str(plan.parent / "out"), "--no-figure", "--budget", "8"]) == 0
    link = fragment_of(capsys.readouterr().out.splitlines()[-1].rstrip("'"))
    assert link.startswith("#trial=")


TWO = """
time_limit = "3 s"
[path]
rate = "5 Mbps"
rtt = "40 ms"
[[flow]]
name = "main"
controller = "{controller}"
download = "1 MB"
[[flow]]
name = "other"
controller = "cubic"
download = "1 MB"
"""


def value(kind: str, controller: str = "c4", **keys: str) -> float:
    scenario = tomllib.loads(TWO.format(controller=controller)) | {"title": "two"}
    plan = {
        "scenario": scenario,
        "objective": {"kind": kind, **keys},
        "budget": 1,
        "axes": {"path.rate": ["5 Mbps"]},
    }
    return Hunt(**plan).run().baseline


def test_objectives_are_what_they_say() -> None:
    assert value("regret", "cubic") == 1.0, "the same controller"
    assert value("taken", "cubic") == 0.0
    assert 0 < value("taken", "bbr1") < 1
    rates = {}
    for controller in ("bbr1", "cubic"):
        trial = Scenario.from_toml(f'title = "two"\n{TWO.format(controller=controller)}', "two").run(1)
        rates[controller] = dict(trial.flows.select("flow", "mean_rate_bps").iter_rows())
    assert value("regret", "bbr1") == pytest.approx(rates["cubic"]["main"] / rates["bbr1"]["main"], rel=0.2)
    assert value("unfairness", "bbr1") == pytest.approx(-value("unfairness", "bbr1", flow="other"), abs=0.2)
    assert 0 <= value("loss") < 0.5
    assert value("slowdown") > 1
    assert 0 < value("queue-delay") < 1
    assert value("capacity-starvation") >= 0


def test_a_stall_is_counted_as_starvation() -> None:
    """A link that carries nothing is not a starvation; a flow that gets nothing of one that does is."""
    scenario: dict[str, Any] = {
        "title": "stall",
        "path": {
            "rate": "5 Mbps",
            "rtt": "40 ms",
            "change": [{"at": "0.5 s", "rate": "0 bps"}, {"at": "2 s", "rate": "5 Mbps"}],
        },
        "flow": [{"name": "main", "controller": "cubic", "download": "1 MB"}],
    }
    plan = {"objective": "capacity-starvation", "budget": 1, "axes": {"path.rtt": ["40 ms"]}}
    assert Hunt(scenario=scenario, **plan).run().baseline < 1.0
    scenario["path"]["change"] = [{"at": "0.5 s", "rtt": "4 s"}]
    # Until packets that left with the longer delay arrive, 2 s later, nothing does.
    assert 1.5 < Hunt(scenario=scenario, **plan).run().baseline < 6.0


def test_a_call_is_as_frozen_as_the_video_of_its_trial() -> None:
    scenario = {
        "title": "A call",
        "path": {"rate": "1900 kbps", "rtt": "40 ms", "buffer": "100 ms", "loss": "3 %"},
        "flow": [{"name": "main", "controller": "c4", "call": "10 s"}],
    }
    plan: dict[str, Any] = {"objective": "frozen", "budget": 1, "axes": {"path.rtt": ["40 ms"]}}
    hunted = Hunt(scenario=scenario, seed=3, **plan).run().baseline
    toml = 'title = "A call"\npath = { rate = "1900 kbps", rtt = "40 ms", buffer = "100 ms", loss = "3 %" }\n'
    toml += '[[flow]]\nname = "main"\ncontroller = "c4"\ncall = "10 s"\n'
    streams = Scenario.from_toml(toml, "call").run(seed=3).outcomes.streams
    frozen = dict(streams.select("stream", "frozen_s").iter_rows())
    assert frozen["audio"] != frozen["video"] > 0
    assert hunted == frozen["video"]


def test_every_kind_has_its_words_in_the_manual() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"| `{kind}` |" in page for kind in KINDS)


def test_the_schema_has_the_keys_of_plans_and_takes_those_of_the_manual() -> None:
    schema = json.loads((DOCS / "reference" / "schemas" / "hunt.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]) == set(KEYS)
    assert set(schema["$defs"]["kind"]["enum"]) == set(KINDS)
    page = PAGE.read_text(encoding="utf-8")
    plans = [*re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE), PLAN]
    for plan in plans:
        jsonschema.validate(tomllib.loads(plan), schema)
    for wrong in ({"budget": 0}, {"keep": 0}, {"sampler": "x"}, {"elements": [{"list": "flow"}]}, {"designs": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(PLAN) | wrong, schema)
        with pytest.raises(RequestError):
            hunt_of(tomllib.loads(PLAN) | wrong, PlanFile("plan"), Path())


def test_values_of_history_are_finite(plan: Path) -> None:
    history = [value for value in Hunt.load(plan).run().history if value is not None]
    assert history
    assert np.isfinite(history).all()


@pytest.mark.parametrize("kind", ["slowdown", "regret", "loss", "queue-delay", "unfairness"])
def test_what_is_at_the_bound_fails(kind: str) -> None:
    """With three digits, and on the strict side, however the bound rounds."""
    objective = Objective(kind, "main", "cubic" if kind == "regret" else None)
    draw = random.Random(1)
    for bound in [0.5, 0.25, *(10 ** draw.uniform(-3, -0.01) for _ in range(500))]:
        exact = bound * (1e7 if kind == "regret" else 1)
        written = objective.criterion({}, exact)
        side = "at_most" if KINDS[kind].at_most else "at_least"
        read = measure(written[side])
        assert read is not None
        assert read[0] < exact if side == "at_most" else read[0] > exact
        assert read[0] == pytest.approx(exact, rel=0.011)


def test_a_find_that_leaves_all_fails_its_criterion(plan: Path) -> None:
    for text in (PLAN, PLAN.replace('"slowdown"', '"loss"'), PLAN.replace('"slowdown"', '"queue-delay"')):
        plan.write_text(f"keep = 1.0\n{text}", encoding="utf-8")
        find = Hunt.load(plan).run()
        if find.is_worse:
            scenario = Scenario.from_toml(find.text(find.shrunk, find.value), "find")
            assert scenario.run(find.seed).verdict().answer == "fails"


@pytest.mark.parametrize("key", ["path.rtt", "path.change.0.at", "flow.flow2.download", "path", "flow.main"])
def test_what_a_scenario_has_or_may_have_can_be_fixed(plan: Path, key: str) -> None:
    plan.write_text(PLAN.replace("flow.main.download", key), encoding="utf-8")
    assert Hunt.load(plan).plan.fixed == (key,)


def test_a_plan_that_excludes_all_is_one_message(plan: Path, capsys: Capture) -> None:
    text = PLAN.partition("[axes]")[0].replace("[scenario]", 'exclude = [{ "path.rtt" = "20 ms" }]\n[scenario]', 1)
    plan.write_text(f'{text}[axes]\n"path.rtt" = ["20 ms"]\n', encoding="utf-8")
    assert main(["hunt", str(plan), "--out", str(plan.parent / "out"), "--no-figure"]) == 2
    assert "none of 24 scenarios is valid, the first because of: the plan excludes it" in capsys.readouterr().err


def test_a_plan_in_which_nothing_varies_ends(plan: Path) -> None:
    plan.write_text(PLAN.partition("[axes]")[0] + '[axes]\n"path.rtt" = ["20 ms"]\n', encoding="utf-8")
    find = Hunt.of(replace(Hunt.load(plan).plan, budget=48)).run()
    assert (find.tried, find.is_worse) == (48, False)


def test_failures_are_kept_if_every_scenario_fails(plan: Path, capsys: Capture) -> None:
    (plan.parent / "fragile.py").write_text(FRAGILE, encoding="utf-8")
    head = PLAN.partition("[axes]")[0].replace("budget = 24", "budget = 4")
    end = '[controllers]\nmain = "fragile.py"\n[axes]\n"path.rtt" = ["300 ms", "400 ms"]\n'
    plan.write_text(head + end, encoding="utf-8")
    out = plan.parent / "out"
    assert main(["hunt", str(plan), "--out", str(out), "--no-figure"]) == 1
    assert "too far" in capsys.readouterr().err
    assert "too far" in (out / "failed-1.toml").read_text(encoding="utf-8")
    assert json.loads((out / "experiment.json").read_text(encoding="utf-8"))["history"] == [None] * 4


def test_ctrl_c_while_the_figure_is_drawn_keeps_the_result(
    plan: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("thalweg.experiments.hunt.keep.draw", interrupt)
    out = plan.parent / "out"
    assert main(["hunt", str(plan), "--out", str(out), "--budget", "4"]) == 130
    assert "interrupted while the find was written" in capsys.readouterr().err
    assert json.loads((out / "experiment.json").read_text(encoding="utf-8"))["scenarios"] == 4


@pytest.mark.parametrize("is_file", [False, True])
def test_a_corpus_that_is_none_is_refused_before_the_hunt(plan: Path, capsys: Capture, is_file: bool) -> None:
    corpus, out = plan.parent / "corpus", plan.parent / "out"
    if is_file:
        corpus.write_text("", encoding="utf-8")
    else:
        corpus.mkdir()
        (corpus / "letter.txt").write_text("", encoding="utf-8")
    assert main(["hunt", str(plan), "--out", str(out), "--keep", str(corpus)]) == 2
    assert "corpus" in capsys.readouterr().err
    assert not out.exists(), "nothing ran"


def test_scenarios_may_be_of_the_newest_toml(tmp_path: Path) -> None:
    """The engine reads TOML 1.1, whose tables within a line may have several lines and a last comma."""
    (tmp_path / "newest.toml").write_text(
        'title = "x"\npath = {\n  rate = "10 Mbps",\n  rtt = "20 ms",\n}\n'
        '[[flow]]\nname = "main"\ncontroller = "cubic"\ndownload = "200 kB"\n',
        encoding="utf-8",
    )
    plan = Hunt(
        scenario=str(tmp_path / "newest.toml"),
        objective="slowdown",
        trials=1,
        budget=2,
        axes={"path.rtt": {"from": "30 ms", "to": "60 ms"}},
    )
    assert plan.run().found["path"]["rate"] == "10 Mbps"


def test_each_file_names_the_seed_of_its_own_scenario() -> None:
    flow = {"path": {}, "flow": [{"name": "main", "controller": "c4"}]}
    find = Find(Objective("loss", "main"), 3, 5, 0.0, flow, 0.2, {**flow}, 0.1, found_seed=2)
    assert "--seed 2 -n 1" in find.text(find.found, 0.2)
    assert "--seed 3 -n 1" in find.text(find.shrunk, 0.1)
    plan = Hunt(
        scenario={
            **flow,
            "title": "x",
            "path": {"rate": "8 Mbps", "rtt": "20 ms", "jitter": {"model": "uniform", "max": "20 ms"}},
            "flow": [{"name": "main", "controller": "cubic", "download": "300 kB"}],
        },
        objective="slowdown",
        trials=3,
        budget=4,
        axes={"path.rtt": {"from": "30 ms", "to": "60 ms"}},
    )
    found = plan.run()
    assert found.found_seed in (1, 2, 3)
    seen = [
        Scenario.from_toml(found.text(found.found, 1.0), "found").run(seed).flows["completion_s"][0]
        for seed in (1, 2, 3)
    ]
    assert seen[found.found_seed - 1] == max(seen)
