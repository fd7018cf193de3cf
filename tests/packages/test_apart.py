"""A study that is a package of its own, where that package is not installed: a wheel is without it."""

from __future__ import annotations

import pytest

from thalweg.cli import main
from thalweg.experiments.studies import catalogue

LACKS = "needs the package no_such_package, which a checkout of Thalweg has and a wheel has not"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue whose studies of other packages are not there."""
    monkeypatch.setattr(catalogue, "APART", dict.fromkeys(catalogue.APART, "no_such_package"))


@pytest.mark.parametrize("words", [["--trials", "2"], ["--help"], ["--nonsense"]])
def test_the_study_says_in_one_sentence_what_it_needs(words: list[str], capsys: Capture) -> None:
    assert main(["study", "wifi-compete", *words]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"error: the study wifi-compete {LACKS}\n")


def test_the_list_of_studies_has_it_with_what_it_needs(capsys: Capture) -> None:
    assert main(["list", "studies", "--format", "json"]) == 0
    listed = capsys.readouterr().out
    assert listed.count(LACKS) == 1
    assert f"on bad Wi-Fi (2025); {LACKS}" in listed
