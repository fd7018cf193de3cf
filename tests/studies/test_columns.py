"""The columns of studies: each is declared once, and the manual has them as they are declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.columns import PART, columns, page_of
from studies.test_runner import STUDY, Parameters
from thalweg.experiments.studies.catalogue import TITLES, study_of


@pytest.mark.parametrize("name", TITLES)
def test_the_page_of_a_study_has_its_columns_as_they_are_declared(name: str) -> None:
    study = study_of(name)
    assert f"<!-- made: {PART} -->\n{columns(study)}\n<!-- end -->\n" in page_of(name).read_text(encoding="utf-8")
    for declared in (study.columns, *study.stored_columns.values()):
        keys = [column.key for column in declared]
        assert len(set(keys)) == len(keys)


def test_a_number_that_no_column_declares_is_no_part_of_a_row() -> None:
    study = replace(STUDY, columns=STUDY.columns[:2])
    with pytest.raises(AssertionError, match="downloads declares no column n"):
        study.run(Parameters(sizes=("100 kB",)))
