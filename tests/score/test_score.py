"""One document for a controller: deterministic, against CUBIC, with guards that no score buys off."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from thalweg import Scenario
from thalweg.base.seeds import first_seed
from thalweg.cli import main
from thalweg.experiments.score import score
from thalweg.experiments.score.guards import LIMITS

HEAD = "import thalweg\n\n\nclass Mine(thalweg.Controller):\n"
TEN = HEAD + "    def on_ack(self, event, path):\n        self.window = 10 * path.mtu\n"
FLOOD = HEAD + "    def on_ack(self, event, path):\n        self.window = 4000 * path.mtu\n"
MUTE = HEAD + "    def on_ack(self, event, path):\n        self.window, self.pacing = 0, 1\n"
FAILS = (
    HEAD
    + "    def on_lost(self, event, path):\n        1 / 0\n\n"
    + "    def on_ack(self, event, path):\n        self.window += 1440\n"
)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three short scenarios."""
    folder = tmp_path_factory.mktemp("few")
    path = '[path]\nrate = "10 Mbps"\nrtt = "40 ms"\nbuffer = "1 bdp"\n'
    flow = '[[flow]]\nname = "{}"\ncontroller = "cubic"\ndownload = "{}"\n'
    more = "background = true\n"
    texts = {
        "alone": path + flow.format("main", "2 MB"),
        "beside": 'time_limit = "15 s"\n'
        + path
        + flow.format("main", "1 GB")
        + more
        + flow.format("cubic", "1 GB")
        + more,
        "both": 'time_limit = "15 s"\n'
        + path
        + flow.format("main", "1 GB")
        + more
        + flow.format("b", "1 GB")
        + more,
    }
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(f'title = "{name}"\n{text}')
    return folder


def scored(folder: Path, text: str, few: Path, **more: Any) -> dict[str, Any]:
    file = folder / "mine.py"
    file.write_text(text)
    return score(str(file), str(few), trials=2, **more).document


def test_the_same_file_gives_the_same_bytes_in_any_process(tmp_path: Path, few: Path) -> None:
    (tmp_path / "mine.py").write_text(TEN)
    command = [
        sys.executable,
        "-c",
        "from thalweg.cli import main; main()",
        "score",
        "mine.py",
        "--suite",
        str(few),
    ]
    done = [subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=100) for _ in range(2)]
    assert done[0].stdout == done[1].stdout
    document = json.loads(done[0].stdout)
    assert done[0].returncode == (1 if document["disqualified"] else 0)
    assert document["controller"]["name"] == "mine.py"
    assert len(document["controller"]["sha256"]) == 64
    assert document["guards"] == LIMITS


def test_cubic_is_as_good_as_itself(few: Path) -> None:
    document = score("cubic", str(few), trials=2).document
    assert document["score"] == 0
    assert document["disqualified"] == []
    for half in ("open", "held_back"):
        assert document[half]["score"] == 0
        for row in document[half]["scenarios"]:
            assert row["mean_rate_bps"]["ratio"] == 1
            assert row["taken"] in (None, 0)


def test_figures_are_those_of_the_trials(tmp_path: Path, few: Path) -> None:
    rows = {row["name"]: row for row in scored(tmp_path, TEN, few)["open"]["scenarios"]}
    alone = rows["alone"]
    # Ten packets of 1440 bytes a round trip of 40 ms are 2.9 Mbps, 8 bits in 8.2 with headers; there is no queue.
    assert 2.2e6 < alone["mean_rate_bps"]["value"] < 2.9e6
    assert 0.040 < alone["mean_rtt_s"]["value"] < 0.046
    assert alone["loss"]["value"] == 0
    assert (alone["taken"], alone["least_share"]) == (None, None)
    # Beside CUBIC it leaves more than CUBIC does; two of it share equally.
    assert rows["beside"]["taken"] < -0.3
    assert 0.9 < rows["both"]["least_share"]["value"] <= 1
    # ln(2.6 / 9) + ln(65 / 42): slower by more than the delay is shorter.
    assert alone["score"] < 0


def one_call(home: Path) -> Path:
    """A suite of a call on a path that loses 1 %."""
    folder = home / "calls"
    folder.mkdir()
    path = '[path]\nrate = "5 Mbps"\nrtt = "40 ms"\nbuffer = "1 bdp"\nloss = "1 %"\n'
    flow = '[[flow]]\nname = "main"\ncontroller = "cubic"\ncall = "3 s"\n'
    (folder / "call.toml").write_text(f'title = "call"\n{path}{flow}')
    return folder


def test_a_call_has_the_numbers_of_its_streams_which_do_not_count(tmp_path: Path) -> None:
    folder = one_call(tmp_path)
    [row] = score("reno", str(folder), trials=3).document["open"]["scenarios"]
    streams = {one.pop("stream"): one for one in row["streams"]}
    assert list(streams) == ["audio", "video", "video-high"]
    played = Scenario.load(folder / "call.toml", controllers={"main": "reno"}).trials(3, seed=first_seed(1))
    for name, own in streams.items():
        of = played.streams.filter(pl.col("stream") == name)
        for column in ("frozen_s", "freezes", "undelivered", "media_rate_bps", "mos", "max_delay_s"):
            assert own[column]["value"] == pytest.approx(of[column].median(), rel=1e-5)
    # Lost audio is not sent again; of 150 frames 1 % is 1.5.
    assert 0 < streams["audio"]["undelivered"]["value"] < 6
    assert "encoder_rate_bps" not in streams["video"]


def test_stored_scores_of_a_call_are_compared_by_its_streams(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = one_call(tmp_path)
    stored = {}
    for name in ("reno", "ledbat-pp"):
        stored[name] = str(tmp_path / name)
        assert main(["score", name, "--suite", str(folder), "-n", "16", "--out", stored[name]]) == 0
    capfd.readouterr()
    assert main(["compare", stored["reno"], stored["ledbat-pp"], "--format", "json"]) == 0
    compared = json.loads(capfd.readouterr().out)
    measures = {one["metric"]: one for one in compared["rows"]}
    assert {"mean_rate_bps", "audio mean_delay_s", "video frozen_s", "video-high mos"} <= set(measures)
    # LEDBAT++ starts with two packets and by itself adds less than one a round trip: frames of 37 500 B wait.
    delay = measures["video mean_delay_s"]
    assert delay["answer"] == "differs"
    assert delay["a"] < delay["b"]
    # What the rows say in their medians is in the list of numbers too.
    assert {"video frozen_s", "video mean_delay_s"} <= {row["column"] for row in compared["numbers"]}
    # The same against itself finds nothing, and has nothing to miss.
    assert main(["compare", stored["reno"], stored["reno"], "--fail-above", "1 %"]) == 0
    assert "No comparison differs" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        (TEN, {"least_share"}),
        (FLOOD, {"taken", "loss"}),
        (MUTE, {"unfinished", "least_share"}),
        (FAILS, {"failed"}),
    ],
)
def test_guards_disqualify(text: str, guards: set[str], tmp_path: Path, few: Path) -> None:
    document = scored(tmp_path, text, few)
    found = {one["guard"] for one in document["disqualified"]}
    if text == TEN:
        assert found <= guards  # ten packets starve only where the path is long
        return
    assert guards <= found
    assert document["score"] is None
    json.dumps(document, allow_nan=False)


def test_a_failure_says_where(tmp_path: Path, few: Path) -> None:
    failed = scored(tmp_path, FAILS, few)["disqualified"][0]
    assert "mine.py:6: ZeroDivisionError" in failed["value"]


def test_the_held_back_half_is_drawn_by_the_seed_and_by_nothing_else(tmp_path: Path, few: Path) -> None:
    def names(document: dict[str, Any]) -> list[str]:
        return [row["name"] for row in document["held_back"]["scenarios"]]

    ten, reno = scored(tmp_path, TEN, few), score("reno", str(few), trials=1).document
    assert names(ten) == names(reno)
    assert names(ten) != names(score("reno", str(few), trials=1, seed=2).document)
    assert set(names(ten)).isdisjoint(row["name"] for row in ten["open"]["scenarios"])
    # The name says what was drawn, and the keys repeat it.
    row = ten["held_back"]["scenarios"][0]
    assert all(value in row["name"] for value in row["keys"].values())


def test_what_is_wrong_is_one_message_with_status_2(
    tmp_path: Path, few: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.toml").write_text((few / "alone.toml").read_text().replace('"main"', '"mine"'))
    broken = tmp_path / "broken.py"
    broken.write_text("import thalweg\nclass Mine(thalweg.Controller:\n")
    for words, said in (
        (["nothing.py"], "nothing.py"),
        ([str(broken)], f"{broken}:2: SyntaxError"),
        (["cubik"], "did you mean"),
        (["cubic", "--suite", "serch"], "did you mean search"),
        (["cubic", "--suite", str(other)], "has no flow 'main'"),
        (["cubic", "-n", "0"], "--trials"),
        (["cubic", "--seed-set", "0"], "--seed-set"),
    ):
        assert main(["score", *words]) == 2, words
        told = capfd.readouterr()
        assert told.out == ""
        assert said in told.err
        assert "Traceback" not in told.err


def test_the_shipped_suite_is_scored(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "reno", "-n", "1"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert len(document["open"]["scenarios"]) == len(document["held_back"]["scenarios"]) == 8
    # Reno is slower than CUBIC where losses are many and round trips long (RFC 9438 section 1).
    lossy = next(row for row in document["open"]["scenarios"] if row["name"] == "lossy-long")
    assert lossy["mean_rate_bps"]["ratio"] < 0.7


def test_a_copied_file_scores_the_same(tmp_path: Path, few: Path) -> None:
    first = scored(tmp_path, TEN, few)
    shutil.copy(tmp_path / "mine.py", tmp_path / "yours.py")
    second = score(str(tmp_path / "yours.py"), str(few), trials=2).document
    named = {"controller": 0, "title": 0}
    assert {**first, **named} == {**second, **named}
    assert first["controller"]["sha256"] == second["controller"]["sha256"]
