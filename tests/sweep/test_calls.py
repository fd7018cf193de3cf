"""A sweep of a call shows its frames: in the table, by name, and on the page without asking."""

from __future__ import annotations

import pytest

from thalweg import Sweep, SweepResult
from thalweg.base.errors import RequestError
from thalweg.cli.sweep.table import print_rows
from thalweg.experiments.sweep.report.view import view_of

CALL = """title = "A call"
time_limit = "8 s"
path = { rate = "10 Mbps", rtt = "40 ms" }
[[flow]]
name = "call"
controller = "gcc"
background = true
[[flow.media]]
name = "video"
carriage = "datagrams"
per_second = 30
duration = "7 s"
rate = { least = "300 kbps", most = "3 Mbps" }
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "call.toml").write_text(CALL)
    sweep = Sweep(str(folder / "call.toml"), {"path.rate": ["5 Mbps", "20 Mbps"]}, trials=2)
    return sweep.run(folder / "store")


def test_a_page_shows_the_media_of_a_call_and_not_when_it_ends(result: SweepResult) -> None:
    columns = [metric.column for metric in view_of(result).metrics]
    wanted = ("p95_delay_s", "frozen_s", "media_rate_bps", "mos")
    assert {f"stream.call.video.{column}" for column in wanted} <= set(columns)
    assert not {"flow.call.completion_s", "flow.call.mean_rate_bps"} & set(columns)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("frozen", "stream.call.video.frozen_s"),
        ("media-rate", "stream.call.video.media_rate_bps"),
        ("mos", "stream.call.video.mos"),
        ("queue-delay", "flow.call.mean_queue_delay_s"),
        ("frozen_s", "stream.call.video.frozen_s"),
    ],
)
def test_a_page_takes_metrics_by_their_names(result: SweepResult, name: str, column: str) -> None:
    assert column in [metric.column for metric in view_of(result, metrics=[name]).metrics]
    with pytest.raises(RequestError, match="nothing of that name was measured"):
        view_of(result, metrics=[f"{name}x"])


def test_the_table_has_a_row_for_each_stream_of_each_point(
    result: SweepResult, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    print_rows(result)
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if "call video" in line]) == 2
    (head,) = (line for line in lines if "media rate" in line)
    assert {"frozen", "mos", "encoder share"} <= {name.strip() for name in head.split("  ")}
