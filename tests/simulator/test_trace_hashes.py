"""The same trial gives the same hash in the release build as in the debug build, whatever the threads."""

from __future__ import annotations

import pytest

from trace_hashes import TABLE, table


@pytest.mark.parametrize("threads", [1, 8])
def test_the_release_build_has_the_trace_hashes_of_the_table(threads: int) -> None:
    assert table(threads) == TABLE.read_text(), "a change of behaviour; `make hashes` writes the table anew"
