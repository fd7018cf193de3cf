"""`thalweg sweep`: a scenario over a space of its keys, controllers and seeds."""

from __future__ import annotations

from typing import Any

import typer

from thalweg.base.errors import RequestError
from thalweg.cli.commands.later import Group, group_of, postponed


class _RunsPlans(Group):
    """A group whose first command needs no name: `thalweg sweep PLAN.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Calls `run` for what is neither a command nor a question for help."""
        if args[:1] == ["merge"]:
            raise RequestError(f"thalweg sweep merge: it is `thalweg {' '.join(args)}`, for any experiment")
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


COMMANDS = {
    "run": postponed(
        "sweep.run:run", "Run the trials of a plan that its store lacks, and show what was measured at each point."
    ),
    "report": postponed(
        "sweep.report:report",
        "Write one page that needs no network: heat maps, small multiples, and throughput against delay.",
    ),
}

sweep = typer.Typer(
    name="sweep",
    cls=group_of(COMMANDS, _RunsPlans),
    help="Run a scenario over a space of its keys, controllers and seeds: `thalweg sweep PLAN.toml --out DIR`, "
    "short for `thalweg sweep run`; see `thalweg docs sweeps`.",
    no_args_is_help=True,
)
sweep.callback()(lambda: None)
