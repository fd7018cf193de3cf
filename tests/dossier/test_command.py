"""`thalweg dossier rfc9743` (RFC 9743): what it writes, what it refuses, and that it resumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.cli import main
from thalweg.experiments.dossier.sections import CRITERIA

Capture = pytest.CaptureFixture[str]
QUICK = [
    "dossier",
    "rfc9743",
    "--controller",
    "reno:decrease=0.9",
    "--quick",
    "--trials",
    "1",
    "--quiet",
]


def refusal(capsys: Capture, *words: str) -> str:
    """What the command says when it refuses."""
    assert main(["dossier", "rfc9743", *words]) == 2
    return capsys.readouterr().err


@pytest.mark.soak
def test_it_writes_a_page_and_a_markdown_file_that_come_again_byte_by_byte(
    tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "dossier"
    assert main([*QUICK, "--out", str(out)]) == 0
    first = {name: (out / name).read_bytes() for name in ("report.html", "dossier.md")}
    page, text = (content.decode() for content in first.values())
    for number, section in CRITERIA.items():
        assert f"{number} {section.title}" in page
        assert f"## {number} {section.title}" in text
    # A page and its table say each number by its heading.
    for heading in ("p95 queue delay of the others", "completion of short flows", "p95 delay", "flows cut off"):
        assert f'<td data-label="number">{heading}</td>' in page
        assert f"| {heading} |" in text
    assert "The worst findings" in page[: page.index("Criteria by environments</h2>")]
    assert "Made by: `thalweg dossier rfc9743 --controller reno:decrease=0.9 --quick --trials 1`" in text
    capsys.readouterr()
    assert main([*QUICK, "--out", str(out)]) == 0  # every trial is stored
    assert {name: (out / name).read_bytes() for name in first} == first
    assert main([*QUICK, "--out", str(tmp_path / "again")]) == 0
    assert {name: (tmp_path / "again" / name).read_bytes() for name in first} == first


@pytest.mark.soak
def test_the_command_of_a_worst_trial_plays_it_for_a_file_too(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "controller", "mine"]) == 0
    words = ["dossier", "rfc9743", "--controller", "./mine.py", *QUICK[4:], "--out", "dossier", "--no-report"]
    assert main(words) == 0
    row = json.loads(Path("dossier", "experiment.json").read_text())["rows"][0]
    assert row["controller"] == "./mine.py"
    monkeypatch.chdir(tmp_path / "dossier")
    capsys.readouterr()
    assert main([*row["replay"].split()[1:], "--format", "json"]) in (0, 1)
    played = json.loads(capsys.readouterr().out)
    assert played["scenarios"][0]["seed"] == row["worst_seed"]


@pytest.mark.soak
def test_what_the_author_wrote_stands_in_its_sections(tmp_path: Path) -> None:
    statements = tmp_path / "mine.toml"
    statements.write_text(
        '"5.3.1" = "It deviates in nothing."\n'
        '[[field]]\nsection = "5.2.1"\ntext = "One per cent of all flows."\nsource = "https://example.org"\n'
    )
    out = tmp_path / "dossier"
    assert main([*QUICK, "--statements", str(statements), "--out", str(out)]) == 0
    text = (out / "dossier.md").read_text()
    principles = text[text.index("## 5.3.1") : text.index("## 5.3.2")]
    assert "It deviates in nothing." in principles
    standard = text[text.index("## 5.2.1") : text.index("## 5.2.2")]
    assert "From the field: One per cent of all flows. (https://example.org)" in standard
    assert "The author has to write on sections 3.2, 4, 5.3.2, 7.10, 8 " in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the candidate is missing: expected --controller NAME, or a file, ./mine.py:Mine"),
        (["-c", "cubicc"], "--controller 'cubicc': unknown controller"),
        (["-c", "cubic", "--also", "noq:cubicc"], "--also 'noq:cubicc':"),
        (["-c", "bbr", "--quick", "--full"], "--quick cannot be combined with --full"),
        (["-c", "bbr", "--also", "bbr"], "--also bbr: it is already compared, as the candidate or as a standard"),
        (["-c", "bbr", "--also", "cubic"], "--also cubic: it is already compared"),
        (["-c", "bbr", "--stack", "quik"], '--stack \'quik\': unknown value "quik" (did you mean "quic"?)'),
        (["-c", "bbr", "--stack", "./no.so"], "--stack './no.so': \"./no.so\" cannot be read"),
        (["-c", "bbr", "--scope", "lab"], "--scope 'lab': expected one of general, controlled"),
        (["-c", "bbr", "--limits", "none.toml"], "cannot read none.toml: No such file or directory"),
        (["-c", "bbr", "--statements", "none.toml"], "cannot read none.toml: No such file or directory"),
    ],
)
def test_bad_options_are_refused_at_once(capsys: Capture, words: list[str], said: str) -> None:
    assert said in refusal(capsys, *words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[rates]\ntimes = 2", "unknown table [rates]"),
        ("[queue-delay]\ntimes = 2", "queue-delay is now p95-queue-delay; queue-delay means: mean time"),
        ("[completion]\ntimes = 2", "completion is now flow-completion-time; completion means: from the start"),
        ("[victim-delay]\ntimes = 2", "victim-delay is now victim-p95-queue-delay"),
        ("[frames]\ntimes = 2", "frames is now p95-delay"),
        ("rate = 2", "limits.toml:1: rate = 2: expected a table [rate] with times, plus and reason"),
        ("[rate]\ntime = 2", "unknown key rate.time; did you mean"),
        ('[rate]\ntimes = "2"', 'rate.times = "2": expected a number from 0 to 1000'),
        ("[rate]\ntimes = true", "rate.times = true: expected a number"),
        ("[rate]\ntimes = 2", "rate.reason: expected a sentence that says why"),
        ('[rate]\nreason = "x"', "rate: expected times and plus, or at_least"),
        ('[rate]\nplus = "2 ms"\nreason = "x"', "rate.plus '2 ms': expected a rate such as 12Mbps"),
        ('[rate]\nplus = 2\nreason = "x"', 'rate.plus = 2: expected a rate such as "1 Mbps"'),
        ('[drops]\nplus = "2 ms"\nreason = "x"', 'drops.plus = "2 ms": expected a share such as "1 %"'),
        ('[jain]\nplus = "1 %"\nreason = "x"', "jain.plus: a number without a unit has no plus"),
        (
            '[rate]\nat_most = "1 Mbps"\nreason = "x"',
            "rate.at_most: for rate, higher is better: expected at_least",
        ),
        (
            '[drops]\nat_least = "1 %"\nreason = "x"',
            "drops.at_least: for drops, lower is better: expected at_most",
        ),
        ('[trips]\nat_most = "1 s"\nreason = "x"', 'trips.at_most = "1 s": expected a number from 0 to 1000'),
        ("[rate", "limits.toml:1: `[rate`: unclosed table"),
    ],
)
def test_limits_that_cannot_be_are_refused(tmp_path: Path, capsys: Capture, text: str, said: str) -> None:
    file = tmp_path / "limits.toml"
    file.write_text(text)
    assert said in refusal(capsys, "-c", "bbr", "--limits", str(file))


def test_limits_that_are_not_there_name_the_shipped_ones(capsys: Capture) -> None:
    assert "--limits c4: no such file; shipped sets are c4-load" in refusal(capsys, "-c", "bbr", "--limits", "c4")


def test_real_time_is_asked_for_twice(capsys: Capture) -> None:
    assert "--also kernel:cubic requires --live" in refusal(capsys, "-c", "cubic", "--also", "kernel:cubic")
    assert "--live requires --also with a controller of the kernel" in refusal(capsys, "-c", "cubic", "--live")
    said = refusal(capsys, "-c", "kernel:cubic", "--live")
    assert "expected a controller that runs in virtual time" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"5.3.9" = "x"', 'unknown key \'5.3.9\'; accepted: "3.2", "4"'),
        ('"5.3.1" = 3', 'mine.toml:1: "5.3.1" = 3: expected a text'),
        ('"5.3.1" = " "', 'mine.toml:1: "5.3.1" = " ": expected a text'),
        ('[[field]]\nsection = "5.2.1"', 'field.0: the key "text" is missing'),
        ('[[field]]\nsection = "5.9"\ntext = "x"\nsource = "y"', 'field.0.section = "5.9": expected a section'),
        ('[[field]]\nsections = "5.2.1"', "mine.toml:2: field.0.sections: unknown key; did you mean section?"),
        ("field = 3", "mine.toml:1: field.0 = 3: expected a table [[field]]"),
    ],
)
def test_statements_that_cannot_be_are_refused(tmp_path: Path, capsys: Capture, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert said in refusal(capsys, "-c", "bbr", "--statements", str(file))
