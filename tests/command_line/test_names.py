"""Names of all of Unicode, and texts that are written to be obeyed, through the commands.

A name comes back as it was written, in every document and table, or is refused in one message. Whatever a file
has, a terminal and a service of CI get text.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from thalweg import SweepResult
from thalweg.cli import main

Capture = pytest.CaptureFixture[str]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What no line of output has: control characters but the tab, and those that change the direction of text."""
SCENARIO = """\
title = "Names"
time_limit = "10 s"
[[link]]
name = LINK
rate = "5 Mbps"
rtt = "20 ms"
[[flow]]
name = FLOW
controller = "cubic"
download = "30 kB"
[[flow]]
name = CALL
controller = "reno"
[[flow.media]]
name = STREAM
per_second = 30
duration = "1 s"
frame = "1 kB"
[[traffic]]
name = TRAFFIC
rate = "100 kbps"
[[pass]]
flow = FLOW
metric = "completion"
at_most = "5 s"
"""
ACCEPTED = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def written(**names: str) -> str:
    text = SCENARIO
    for place in ("LINK", "FLOW", "CALL", "STREAM", "TRAFFIC"):
        text = text.replace(place, json.dumps(names.get(place, place.lower())))
    return text


def drawn(chance: random.Random) -> str:
    """A name of letters that names have, or of any characters, those that mean something in keys among them."""
    letters = (
        "abcXYZ019-_" if chance.random() < 0.4 else "a b.=:/\\*\"'|<#,[]\n\x1b\x9b\u202eäשא主\u0301\U0001f52c"
    )
    some = [chance.choice(letters) for _ in range(chance.randrange(1, 6))]
    if chance.random() < 0.3:
        some.insert(
            chance.randrange(len(some) + 1), chr(chance.choice([*range(0xD800), *range(0xE000, 0x110000)]))
        )
    return "".join(some)


def names() -> Iterator[str]:
    """Those that were found to do harm, then drawn ones."""
    yield from (
        "first user",
        "a_b",
        "a.b",
        "b.c",
        "a up",
        "a=b",
        "up",
        "down",
        "0",
        "*",
        "-",
        "é",
        "e\u0301",
        "n" * 65,
    )
    chance = random.Random(44)
    yield from (drawn(chance) for _ in range(60))


@pytest.mark.parametrize("place", ["FLOW", "STREAM", "LINK", "TRAFFIC"])
def test_a_name_of_all_of_unicode_is_accepted_or_refused_in_one_message(
    place: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "names.toml"
    for name in names():
        file.write_text(written(**{place: name}), encoding="utf-8")
        status = main(["check", str(file)])
        told = capsys.readouterr()
        assert not OBEYED.search(told.out + told.err.replace("\n", "")), name
        if ACCEPTED.fullmatch(name):
            assert (status, told.err) == (0, ""), name
        else:
            assert (status, told.out, told.err.count("\n")) == (2, "", 1), name
            assert re.search(r"names\.toml:.* accepted: ", told.err), name


@pytest.mark.parametrize("name", ["b", "A_b-9", "up", "n" * 64])
def test_an_accepted_name_comes_back_from_every_command(name: str, tmp_path: Path, capsys: Capture) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    file = suite / "one.toml"
    file.write_text(written(FLOW=name, STREAM=name, LINK=name), encoding="utf-8")
    bound = ["-c", f"{name}=reno", "--set", f"flow.{name}.start=10 ms"]
    assert main(["run", str(file), "-n", "2", *bound, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [flow["flow"] for flow in document["flows"]] == [name, "call"]
    assert [stream["stream"] for stream in document["streams"]] == [name]
    assert [link["link"] for link in document["links"]] == [name, f"{name} up"]
    baseline = ["--baseline", str(tmp_path / "b.json"), "-n", "2", *bound]
    assert main(["gate", str(suite), *baseline, "--accept", "-q"]) == 0
    assert main(["gate", str(suite), *baseline, "-q"]) == 0
    out = tmp_path / "result"
    assert main(["suite", str(suite), "-n", "2", *bound, "--out", str(out), "-q"]) == 0
    assert main(["replay", str(out), "one", "worst"]) == 0
    assert name in capsys.readouterr().out


def test_columns_of_a_sweep_are_as_many_as_what_has_names(tmp_path: Path, capsys: Capture) -> None:
    """White space and dots were folded: two flows or links had one column."""
    plan = tmp_path / "plan.toml"
    file = tmp_path / "one.toml"
    second = '[[link]]\nname = "a_up"\nrate = "50 Mbps"\nrtt = "20 ms"\n'
    text = written(LINK="a", FLOW="a_b", CALL="a-b").replace("[[flow]]", second + "[[flow]]", 1)
    text = text.replace("controller", 'route = ["a", "a_up"]\ncontroller').replace(
        'rate = "100 kbps"', 'rate = "100 kbps"\nroute = ["a"]'
    )
    file.write_text(text, encoding="utf-8")
    plan.write_text(
        f'scenario = {json.dumps(str(file))}\ntrials = 2\n[axes]\n"path.rtt" = ["1 s"]\n'.replace(
            "path.rtt", "link.a.rtt"
        ),
        encoding="utf-8",
    )
    assert main(["sweep", str(plan), "--out", str(tmp_path / "s"), "-q"]) == 0, capsys.readouterr().err
    columns = SweepResult.load(tmp_path / "s").columns
    flows = {name.split(".")[1] for name in columns if name.startswith("flow.")}
    links = {name.split(".")[1] for name in columns if name.startswith("link.")}
    assert flows == {"a_b", "a-b"}
    assert links == {"a", "a up", "a_up", "a_up up"}
    measured = SweepResult.load(tmp_path / "s").rows
    assert measured.filter(pl.col("flow.a_b.completion_s.n") == 2).height == 1


TEXTS = [
    "\x1b[2J\x1b]0;pwn\x07x",
    "\u202egnp.exe",
    "a\x7fb\x9b31m",
    "a\0b",
    "a\n::error title=x::pwn",
    "\u2066a\u2069",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "place", ['title = "Names"', 'source = "x"\ntitle = "Names"', 'note = "x"\ntitle = "Names"']
)
def test_a_text_that_is_obeyed_is_refused_and_shown_as_escapes(
    place: str, text: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "names.toml"
    key, _, rest = place.partition(" = ")
    value = rest.partition("\n")[0]
    file.write_text(
        written().replace('title = "Names"', place.replace(value, json.dumps(text), 1)), encoding="utf-8"
    )
    if key == "note" and "\n" in text:  # a note has lines
        assert main(["check", str(file)]) == 0
        return
    for command in (["check"], ["run"], ["show"], ["suite"]):
        where = str(tmp_path) if command == ["suite"] else str(file)
        assert main([*command, where]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert not OBEYED.search(told.err.replace("\n", ""))
        assert re.search(rf"names\.toml:\d+: {key}: has the character U\+00", told.err) or "U+2" in told.err


def test_a_name_of_a_file_and_a_title_begin_no_command_of_a_runner(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "x.toml"
    file.write_text(written().replace("Names", "::error::pwn ##[add-mask]main"), encoding="utf-8")
    for arguments in (
        ["run", str(file)],
        ["suite", str(tmp_path), "-n", "1"],
        ["suite", str(tmp_path), "-n", "1", "--format", "github"],
    ):
        assert main(arguments) == 0
        told = capsys.readouterr()
        for line in (told.out + told.err).splitlines():
            assert not re.search(r"^\s*::|##\[", line), line


def test_a_file_whose_name_is_obeyed_is_shown_with_escapes(tmp_path: Path, capsys: Capture) -> None:
    if sys.platform == "win32":
        pytest.skip("such names are not possible there")
    file = tmp_path / "a\x1b[2J\nb.toml"
    file.write_text("x = 1", encoding="utf-8")
    assert main(["check", str(file)]) == 2
    assert main(["suite", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert not OBEYED.search(told.out + told.err.replace("\n", ""))
