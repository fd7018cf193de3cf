"""Thresholds: the table `[gate]` of a suite or of a file, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.catalogue import Suite
from thalweg.judging.measures import MEASURES
from thalweg.judging.thresholds import DEFAULTS, Threshold, read_thresholds

REFUSED = [
    ({"closd": "1 %"}, "unknown key gate.closd; did you mean closed or loss?"),
    ({"load": "1 %"}, "gate.load: neither end of it is better"),
    ({"closed": 1}, "gate.closed = 1: expected"),
    ({"closed": True}, "gate.closed = true: expected"),
    ({"closed": "1"}, 'gate.closed = "1": expected a share of 0 % to 1000 %'),
    ({"closed": "-1 %"}, 'gate.closed = "-1 %": expected a share'),
    ({"closed": "1001 %"}, 'gate.closed = "1001 %": expected a share'),
    ({"closed": "1 ms"}, 'gate.closed = "1 ms": expected a share'),
    ({"closed": []}, "gate.closed = []: expected"),
    ({"closed": ["1 %", 2]}, 'gate.closed = ["1 %", 2]: expected'),
    ({"closed": ["1 %", "2 ms", "3 ms"]}, "expected"),
    ({"closed": ["1 %", "2 Mbps"]}, "expected a time such as 20ms"),
    ({"rate": ["1 %", "2 ms"]}, "expected a rate such as 12Mbps"),
    ({"loss": ["1 %", "2 ms"]}, "expected a share"),
    (dict.fromkeys(DEFAULTS, "off"), 'every metric is "off"'),
]


@pytest.mark.parametrize(("table", "said"), REFUSED)
def test_a_wrong_threshold_is_one_message(table: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError) as refused:
        read_thresholds(table, "mine.toml")
    assert str(refused.value).startswith("mine.toml: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_defaults_stay_but_for_what_a_table_names() -> None:
    found = read_thresholds({"rate": "off", "loss": "20 %", "max-rtt": ["5 %", "2 ms"]}, "mine.toml")
    assert found.keys() == DEFAULTS.keys() - {"rate"} | {"max-rtt"}
    assert found["loss"] == Threshold(0.2)
    assert found["max-rtt"] == Threshold(0.05, 0.002)
    assert found["closed"] == DEFAULTS["closed"]


def test_every_default_is_of_a_metric_with_a_better_end() -> None:
    assert all(MEASURES[name].better for name in DEFAULTS)


def test_a_suite_has_thresholds_of_its_own(tmp_path: Path, scenario_file: Path) -> None:
    (tmp_path / "suite.toml").write_text('[gate]\nclosed = "3 %"\n', encoding="utf-8")
    assert Suite.find(tmp_path).thresholds["closed"] == Threshold(0.03)
    (tmp_path / "suite.toml").write_text('gate = "3 %"\n', encoding="utf-8")
    with pytest.raises(RequestError, match='gate = "3 %": expected a table'):
        Suite.find(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.toml: it lacks the table [gate]"),
        ("[gates]\n", "unknown key 'gates'; accepted: a table [gate]"),
        ("gate = 3\n", "gate = 3: expected a table [gate]"),
        ("[gate\n", "t.toml:1: "),
    ],
)
def test_a_file_of_thresholds_has_one_table(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["gate", "c4", "--thresholds", str(file)]) == 2
    assert said in capsys.readouterr().err


def test_a_message_has_the_line_of_a_threshold(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[gate]\nrate = "off"\nclosed = true\n', encoding="utf-8")
    with pytest.raises(RequestError, match=r"mine\.toml:3: gate\.closed = true: expected"):
        read_thresholds({"rate": "off", "closed": True}, str(file))
