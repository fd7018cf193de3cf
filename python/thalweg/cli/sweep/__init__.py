"""`thalweg sweep`: a scenario over a space of its keys, controllers and seeds."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any

import typer

from thalweg.cli.commands.later import Group, Later, group_of


class _RunsPlans(Group):
    """A group whose first command needs no name: `thalweg sweep PLAN.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Calls `run` for what is neither a command nor a question for help."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


def _at(name: str, summary: str) -> Later:
    return Later(partial(resolve_name, f"thalweg.cli.sweep.{name}:{name}"), summary)


COMMANDS = {
    "run": _at("run", "Run the trials of a plan that its store lacks, and show what was measured at each point."),
    "merge": _at("merge", "Put the trials of several stores into one."),
    "report": _at(
        "report",
        "Write one page that needs no network: heat maps, small multiples, and throughput against delay.",
    ),
}

sweep = typer.Typer(
    name="sweep",
    cls=group_of(COMMANDS, _RunsPlans),
    help="Run a scenario over a space of its keys, controllers and seeds: `thalweg sweep PLAN.toml --out DIR`, "
    "which is short for `thalweg sweep run`; see `thalweg docs sweeps`.",
    no_args_is_help=True,
)
sweep.callback()(lambda: None)
