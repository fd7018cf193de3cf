"""docs/how-to/own-controller.md is as short as it promises; its blocks run with those of all pages."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-controller.md"


def test_a_figure_takes_ten_commands_or_fewer() -> None:
    first = PAGE.read_text().partition("## What a class looks like")[0]
    commands = [line for line in first.splitlines() if line.startswith("thalweg ")]
    assert 5 <= len(commands) <= 10
