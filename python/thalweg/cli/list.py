"""`thalweg list`: scenarios, controllers, models and metrics."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from thalweg import _native
from thalweg.base.errors import RequestError, did_you_mean
from thalweg.cli.console import print_json, stdout
from thalweg.cli.fitting import plain_table
from thalweg.cli.options import Format
from thalweg.engine.catalogue import list_suites


class Kind(StrEnum):
    """What can be listed."""

    CONTROLLERS = "controllers"
    SCENARIOS = "scenarios"
    SUITES = "suites"
    STUDIES = "studies"
    MODELS = "models"
    METRICS = "metrics"


def list_(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help=f"What to list: {', '.join(Kind)}.")],
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Only the scenarios of this suite, or only this controller."),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
) -> None:
    """List controllers, scenarios, suites, studies, models of the path, or metrics of criteria.

    Example: `thalweg list scenarios c4`
    """
    entries, headers = _LISTS[kind]()
    if name is not None:
        entries = _named(kind, entries, name)
    if format_ is Format.JSON:
        print_json({str(kind): entries})
        return
    console = stdout()
    rows = [[str(entry.get(header) or "") for header in headers] for entry in entries]
    table = plain_table(headers, rows, len(headers), apart=False, droppable=_DROPPABLE, comfortable=_TITLE)
    console.print(table)
    if kind is Kind.CONTROLLERS:
        for entry in entries:
            for option in entry["options"]:
                choice = f"{entry['name']}:{option['name']}={option['default']}"
                console.print(f"{choice}  {option['meaning']} ({option['accepted']})")


def _named(kind: Kind, entries: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The entries with a name; for scenarios, the name of their suite. Raises RequestError."""

    def name_of(entry: dict[str, Any]) -> str:
        found = str(entry["name"])
        return found.partition("/")[0] if kind is Kind.SCENARIOS and "/" not in name else found

    found = [entry for entry in entries if name_of(entry) == name]
    if not found:
        one = "suite" if kind is Kind.SCENARIOS else str(kind).removesuffix("s")
        raise RequestError(f"no {one} {name!r}{did_you_mean(name, (name_of(entry) for entry in entries))}")
    return found


def _controllers() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    return _native.controllers(), ("name", "title", "source")


def _models() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    return [dict(model) for model in _native.models()], ("kind", "name", "title", "source")


def _suites() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    entries = [
        {
            "name": suite.name,
            "title": suite.title,
            "scenarios": len(suite.entries),
            "trials": suite.trials,
            "takes": suite.takes,
            "source": suite.source,
        }
        for suite in list_suites()
    ]
    return entries, ("name", "title", "scenarios", "trials", "takes", "source")


def _studies() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    from thalweg.experiments.studies.catalogue import TITLES, lacking  # noqa: PLC0415 - only for this list

    entries = []
    for name, title in TITLES.items():
        lacks = lacking(name)
        entries.append({"name": name, "title": title if lacks is None else f"{title}; {lacks}"})
    return entries, ("name", "title")


def _metrics() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    return [dict(metric) for metric in _native.metrics()], ("name", "unit", "of", "meaning")


def _scenarios() -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    from thalweg.engine.scenario import Scenario  # noqa: PLC0415 - polars comes with it

    entries = []
    for suite in list_suites():
        for entry in suite.entries:
            scenario = Scenario.from_entry(entry)
            entries.append({"name": entry.reference, "title": scenario.title, "source": scenario.source})
    return entries, ("name", "title", "source")


_DROPPABLE = ("source", "trials", "takes", "scenarios")
"""What a narrow terminal goes without, the first one first."""
_TITLE = 60
"""Columns of a title that are not wrapped while there is something to drop."""
_LISTS: dict[Kind, Callable[[], tuple[list[dict[str, Any]], tuple[str, ...]]]] = {
    Kind.CONTROLLERS: _controllers,
    Kind.SCENARIOS: _scenarios,
    Kind.SUITES: _suites,
    Kind.STUDIES: _studies,
    Kind.MODELS: _models,
    Kind.METRICS: _metrics,
}
