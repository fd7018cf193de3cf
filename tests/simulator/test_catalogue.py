"""Names of scenarios and suites."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from thalweg.base.errors import RequestError
from thalweg.cli import main
from thalweg.engine.catalogue import Suite, find_scenario, list_scenarios, list_suites
from thalweg.engine.scenario import Scenario


def test_every_shipped_scenario_loads_and_names_its_source() -> None:
    for name in list_scenarios():
        scenario = Scenario.load(name)
        assert scenario.source, name
        # `thalweg score` has guards in place of criteria, `thalweg bench` sets sides against each other, and the
        # tests of C4 after draft -04 have no targets.
        if name.startswith(("c4-05/", "c4-05-as-printed/")):
            assert all(criterion["informative"] for criterion in scenario.criteria), name
        else:
            assert bool(scenario.criteria) != name.startswith(("search/", "live/")), name


def test_a_scenario_with_a_base_is_that_one_with_its_own_keys_set() -> None:
    entry = find_scenario("c4-as-printed/bad-wifi")
    assert tomllib.loads(entry.file.read_text(encoding="utf-8"))["base"] == "c4/bad-wifi"
    base, changed = (
        tomllib.loads(find_scenario(f"{suite}/bad-wifi").read().decode()) for suite in ("c4", entry.suite)
    )
    assert "base" not in changed
    assert {key for key in base if base[key] != changed[key]} == {"note", "path", "flow", "pass"}
    assert changed["path"] == base["path"] | {"jitter": {"model": "wifi", "mean": "7 ms", "formula": "draft"}}
    assert changed["flow"] == [{**base["flow"][0], "download": "10 MB"}]
    assert find_scenario(entry.file).read() == entry.read()  # by its path too


def test_the_c4_suite_starts_as_its_document_does() -> None:
    (suite,) = (suite for suite in list_suites() if suite.name == "c4")
    assert [entry.name for entry in suite.entries][:3] == ["simple-20mbps", "simple-200mbps", "satellite"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("c4/simple-20mbp", "did you mean c4/simple-20mbps"),
        ("satellite", "did you mean c4/satellite"),
        ("nowhere.toml", "no such file: nowhere.toml"),
    ],
)
def test_a_mistyped_scenario_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(RequestError, match=hint):
        find_scenario(name)


def test_a_folder_is_a_suite_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.toml").touch()
    suite = Suite.find(tmp_path)
    assert [entry.name for entry in suite.entries] == ["a", "b"]
    assert suite.name == tmp_path.name


def test_suite_toml_orders_titles_and_is_checked(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.toml").touch()
    about = tmp_path / "suite.toml"
    about.write_text('title = "Mine"\norder = ["b"]', encoding="utf-8")
    suite = Suite.find(tmp_path)
    assert (suite.title, [entry.name for entry in suite.entries]) == ("Mine", ["b", "a"])
    for text, message in (
        ('titel = "x"', "unknown key 'titel'; did you mean title"),
        ('order = ["c"]', "there is no c.toml"),
        ("order = 1", "expected a list of names"),
        ("order", "suite.toml"),
    ):
        about.write_text(text, encoding="utf-8")
        with pytest.raises(RequestError, match=message):
            Suite.find(tmp_path)


def test_files_and_empty_folders_are_no_suites(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no scenario files"):
        Suite.find(tmp_path)
    file = tmp_path / "one.toml"
    file.touch()
    with pytest.raises(RequestError, match="thalweg run"):
        Suite.find(file)
    with pytest.raises(RequestError, match="thalweg suite"):
        find_scenario(tmp_path)


@pytest.mark.parametrize("command", [["run"], ["run", "--live"], ["suite"], ["probe", "analyze"]])
@pytest.mark.parametrize("special", ["/dev/zero", "fifo.toml"])
def test_files_that_are_not_regular_are_refused_before_opening(
    special: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / special  # an absolute name stays as it is
    if special != "/dev/zero":
        os.mkfifo(file)
    wanted = file
    if command == ["suite"]:
        wanted = tmp_path / "suite"
        wanted.mkdir()
        file = wanted / "one.toml"
        file.symlink_to(tmp_path / special)
    assert main([*command, str(wanted)]) == 2
    assert capsys.readouterr().err.startswith(f"error: cannot read {file}: it is not a regular file; accepted: a ")


def test_a_scenario_file_that_is_too_long_is_refused_with_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "long.toml"
    with file.open("wb") as opened:
        opened.truncate((80 << 20) + 1)  # a sparse file takes no room
    assert main(["run", str(file)]) == 2
    said = f"error: cannot read {file}: it has more than 80 MiB; accepted: a scenario file of at most 80 MiB\n"
    assert capsys.readouterr().err == said


def test_a_scenario_is_chosen_by_its_name_even_if_that_is_a_pattern(tmp_path: Path) -> None:
    for name in ("[bold]z", "bz"):
        (tmp_path / f"{name}.toml").write_text('title = "one"\n', encoding="utf-8")
    suite = Suite.find(tmp_path)
    assert [entry.name for entry in suite.matching(["[bold]z"])] == ["[bold]z", "bz"]
    assert [entry.name for entry in suite.matching(["b*"])] == ["bz"]
