"""Verdicts by comparison in a terminal and as Markdown."""

from __future__ import annotations

from rich.text import Text

from thalweg.cli.console import complain, stdout
from thalweg.cli.fitting import FittingTable
from thalweg.cli.status import undecided
from thalweg.cli.tables import markdown
from thalweg.results.against import table
from thalweg.results.against.standing import Standing

_STYLES = {"best": "green", "worst": "bold red"}
_DROPPABLE = ("of",)
"""What a narrow terminal goes without, the first one first."""
_COUNT_DROPPABLE = ("better", "places")


def as_markdown(standing: Standing) -> str:
    """The sentence and both tables."""
    places = markdown(table.headers(standing), table.rows(standing), left=table.LEFT)
    numbers = markdown(table.COUNT_HEADERS, table.count_rows(standing), left=table.COUNT_LEFT)
    return f"{table.summary(standing)}\n\n{numbers}\n\n{places}"


def print_standing(standing: Standing) -> None:
    """The sentence and both tables, in a terminal."""
    console = stdout()
    places = FittingTable(table.headers(standing), table.LEFT, _DROPPABLE, grouped=True)
    for scenario, metric, rank, *rest in table.rows(standing):
        places.add_row(scenario, metric, Text(rank, _STYLES.get(rank, "dim")), *rest)
    numbers = FittingTable(table.COUNT_HEADERS, table.COUNT_LEFT, _COUNT_DROPPABLE)
    for row in table.count_rows(standing):
        numbers.add_row(*row)
    console.print(table.summary(standing))
    console.print(numbers)
    console.print(places)


def complain_of(standing: Standing) -> None:
    """Says where the controller is worse than all, or that too few trials tell."""
    for place in standing.worst:
        complain(table.place_text(place), label="worst: ")
    if standing.undecided and not standing.worst:
        compared = sum(len(place.rivals) for place in standing.places)
        complain(undecided(standing.undecided, compared, f"comparisons of {standing.name}"))
