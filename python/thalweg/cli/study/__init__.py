"""`thalweg study`: experiments over many scenarios, each with its metric."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any

import typer

from thalweg.cli.commands.later import Later, group_of

_OWN = {"harm", "transient", "loopback"}
"""Those with options that are no parameters."""


def _command(module: str) -> Any:
    if module in _OWN:
        return resolve_name(f"thalweg.cli.study.{module}:{module}")
    make = resolve_name("thalweg.cli.study.command:command")
    return make(resolve_name(f"thalweg.experiments.studies.{module}.study:STUDY"))


def _study(module: str, title: str) -> Later:
    return Later(partial(_command, module), f"{title}.")


STUDIES = {
    "wifi-compete": _study("wifi_compete", "C4 before its drafts, against others on bad Wi-Fi (2025)"),
    "harm": _study("harm", "Harm to the completion times of short flows"),
    "transient": _study(
        "transient", "How controllers react to steps of capacity, round-trip time and flow arrival"
    ),
    "stacks": _study("stacks", "The modelled endpoint and a real QUIC stack under the same controllers"),
    "fairness": _study("fairness", "Shares of a bottleneck, for all pairs of controllers and many flows of one"),
    "laws": _study("laws", "What the standards imply, held by measurement"),
    "loopback": _study("loopback", "Throughput of C4 and others over 127.0.0.1"),
    "slow-start": _study("slow_start", "Slow starts side by side"),
    "hunt": _study("hunt", "Published worst cases, found again"),
}
"""Each with its title, so that the list of them loads none."""

study = typer.Typer(
    name="study",
    cls=group_of(STUDIES),
    help="Run a study: an experiment over many scenarios, compared with published results.",
    no_args_is_help=True,
)
study.callback()(lambda: None)
