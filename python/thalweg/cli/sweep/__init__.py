"""`thalweg sweep`: a scenario over a space of its keys, controllers and seeds."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from thalweg.cli.sweep.merge import merge
from thalweg.cli.sweep.report import report
from thalweg.cli.sweep.run import run


class _RunsPlans(TyperGroup):
    """A group whose first command needs no name: `thalweg sweep PLAN.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Calls `run` for what is neither a command nor a question for help."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


sweep = typer.Typer(
    name="sweep",
    cls=_RunsPlans,
    help="Run a scenario over a space of its keys, controllers and seeds: `thalweg sweep PLAN.toml --out DIR`, "
    "which is short for `thalweg sweep run`; see docs/sweeps.md.",
    no_args_is_help=True,
)
sweep.command("run")(run)
sweep.command("merge")(merge)
sweep.command("report")(report)
