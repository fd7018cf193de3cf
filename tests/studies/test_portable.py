"""Studies of controllers in files: they run again in their folder, and the folder can be moved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.engine.scenario import Scenario
from thalweg.experiments.dossier.parameters import Parameters as Dossier
from thalweg.experiments.studies.catalogue import TITLES, study_of
from thalweg.experiments.studies.runner.folder import write_study_files
from thalweg.experiments.studies.runner.parameters import file_name
from thalweg.experiments.studies.runner.portable import portable
from thalweg.experiments.studies.runner.result import StudyResult

Capture = pytest.CaptureFixture[str]
MINE = """\
import thalweg
{more}

class Mine(thalweg.Controller):
    def __init__(self, init, packets: int = 20):
        self.window = packets * 1252

    def on_ack(self, event, path):
        pass
"""
FAIRNESS = ["study", "fairness", "--buffer", "1", "--rtt-ratio", "1", "--queue", "drop-tail", "--flows", "3"]
FAIRNESS += ["--duration", "20 s", "-n", "1", "--no-report", "--quiet", "--format", "json", "--out", "fair"]
"""Two rows, a pair and three flows."""
PATH = '[path]\nrate = "10 Mbps"\nrtt = "40 ms"\nbuffer = "1 bdp"\n'
FLOW = '[[flow]]\nname = "{name}"\ncontroller = {controller}\ndownload = "1 MB"\n'
HOSTILE = (
    "./mine.py",
    "../mine.py:Mine",
    "/home/me/.hidden/mine.py:Mine:packets=20",
    "./a b/mïne (1).py",
    ".py/..py",
    "cubic:beta=0.7",
    f"./{'long' * 60}.py",
)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(file: str, more: str = "") -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(MINE.format(more=more), encoding="utf-8")


def scenario(*controllers: str, quote: str = '"') -> Scenario:
    flows = [FLOW.format(name=f"f{n}", controller=f"{quote}{one}{quote}") for n, one in enumerate(controllers)]
    return Scenario.from_toml(f'title = "A"\ntime_limit = "20 s"\n{PATH}{"".join(flows)}', "a")


@pytest.mark.parametrize("spelled", ["./mine.py", "mine.py:Mine", "../{here}/mine.py", "{folder}/mine.py"])
def test_a_study_of_a_file_runs_again_in_its_folder_however_the_file_is_spelled(
    spelled: str, tmp_path: Path, capsys: Capture
) -> None:
    write("mine.py")
    controller = spelled.format(here=tmp_path.name, folder=tmp_path)
    for _ in range(2):
        assert main([*FAIRNESS, "-c", controller]) in (0, 1, 2)
        assert "accepted: NAME" not in capsys.readouterr().err
    document = json.loads(Path("fair", "experiment.json").read_text(encoding="utf-8"))
    assert "controllers/mine.py" in document["files"]
    texts = [file.read_text(encoding="utf-8") for file in Path("fair", "scenarios").iterdir()]
    assert len(texts) == 2
    assert not any(str(tmp_path) in text for text in texts)


def test_a_moved_folder_plays_the_same_trials_without_the_file_of_the_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("src/mine.py", "from beside import nothing\nfrom pack.age import less\n")
    Path("src/beside.py").write_text("nothing = 0\n", encoding="utf-8")
    Path("src/pack").mkdir()
    Path("src/pack/__init__.py").touch()
    Path("src/pack/age.py").write_text("less = 0\n", encoding="utf-8")
    given = scenario("./src/mine.py:Mine:packets=30", "cubic")
    files: dict[str, bytes] = {}
    write_study_files(
        tmp_path / "study",
        StudyResult("a", "A", "", "default", 1, 1, rows=[{"x": 1}]),
        {"one": portable(given, files)},
        {},
        named=files,
    )
    trial_hash = given.run(seed=7).trace_hash
    shutil.rmtree("src")
    shutil.move("study", "elsewhere")
    monkeypatch.chdir("elsewhere")
    assert {*files} == {
        "controllers/mine.py",
        "controllers/beside.py",
        "controllers/pack/__init__.py",
        "controllers/pack/age.py",
    }
    assert Scenario.load("scenarios/one.toml").run(seed=7).trace_hash == trial_hash


def test_files_of_one_name_stand_apart_and_the_older_ones_go(tmp_path: Path) -> None:
    write("a/mine.py")
    write("b/mine.py", "# another")
    files: dict[str, bytes] = {}
    text = portable(scenario("./a/mine.py", "b/mine.py:Mine", quote="'"), files)
    assert {*files} == {"controllers/mine.py", "controllers/2/mine.py"}
    assert '"controllers/mine.py"' in text
    assert '"controllers/2/mine.py:Mine"' in text
    result = StudyResult("a", "A", "", "default", 1, 1, rows=[{"x": 1}])
    for named in (files, {}, files):
        write_study_files(tmp_path / "study", result, {"one": text}, {}, named=named)
        there = {str(file.relative_to("study")) for file in Path("study").rglob("*.py")}
        assert there == {*named}
        assert Path("study", "controllers").exists() == bool(named)


def test_a_class_of_a_module_is_stored_by_its_file(tmp_path: Path) -> None:
    write("mine.py")
    given = Scenario.from_toml(
        f'title = "A"\n{PATH}{FLOW.format(name="main", controller=chr(34) + "cubic" + chr(34))}',
        "a",
        controllers={"main": f"{tmp_path}/mine.py:Mine"},
    )
    assert '"controllers/mine.py:Mine"' in portable(given, {})


@pytest.mark.parametrize("text", HOSTILE)
def test_every_cell_of_every_study_has_a_name_that_its_folder_accepts(text: str, tmp_path: Path) -> None:
    name = file_name(text, "1 bdp", text)
    assert "home" not in name
    assert len(name) <= 120
    result = StudyResult("a", "A", "", "default", 1, 1, rows=[{"x": 1}])
    for _ in range(2):
        write_study_files(tmp_path / "study", result, {name: ""}, {})


def test_names_of_published_cells_are_accepted_and_differ() -> None:
    studies = {name: study_of(name) for name in TITLES}
    found = [
        (name, one) for name, study in studies.items() if study.has_scenarios for one in study.presets.values()
    ]
    for name, parameters in [*found, ("dossier", Dossier(controller="bbr:ecn=on", full=True))]:
        cells = [cell.name for cell in parameters.cells()]
        assert len(set(cells)) == len(cells), name
        assert all(file_name(cell) == cell for cell in cells), name


def test_a_title_that_is_called_like_the_file_keeps_its_name() -> None:
    write("mine.py")
    flow = FLOW.format(name="mine", controller="'mine.py'")
    text = f'title = "mine.py"\ntime_limit = "20 s"\n{PATH}{flow}'
    stored = portable(Scenario.from_toml(text, "a"), {})
    assert stored == text.replace("'mine.py'", '"controllers/mine.py"')


def test_two_files_of_one_name_are_refused_before_anything_runs(capsys: Capture) -> None:
    write("a/mine.py")
    write("b/mine.py")
    assert main([*FAIRNESS, "-c", "a/mine.py", "-c", "b/mine.py"]) == 2
    assert "would be stored as" in capsys.readouterr().err
    assert not Path("fair").exists()
