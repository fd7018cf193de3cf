"""smoltcp 0.14, of examples/stacks: what TCP does otherwise than the stacks of test_every_stack.py."""

from __future__ import annotations

import pytest

import thalweg
from stacks.built import built, played_by

pytestmark = pytest.mark.soak


def test_pieces_of_the_window_wait_for_a_full_segment() -> None:
    # Nagle's algorithm is on, as smoltcp has it: a packet brings 1244 bytes here, and 827 without.
    work = 'download = "100 GB"\nbackground = true'
    trial = played_by(built("smoltcp"), "cubic", work, "0 %", overrides={"time_limit": "5 s"}).run(1)
    assert trial.flows["bytes_delivered"][0] / trial.flows["packets_sent"][0] > 1100


def test_several_streams_are_refused() -> None:
    with pytest.raises(thalweg.ScenarioError, match="2 streams of a connection are too many"):
        played_by(built("smoltcp"), "reno", 'download = "1 MB"\nstreams = 2', "0 %")
