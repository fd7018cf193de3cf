"""`thalweg docs`: the manual that the package carries."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg import manual
from thalweg.cli.console import note, say, stdout
from thalweg.cli.fitting import plain_table


def docs(
    page: Annotated[
        str | None, typer.Argument(metavar="PAGE", help="A page to print, such as ci or how-to/ci.")
    ] = None,
) -> None:
    """Print a page of the manual, or list its pages.

    At a terminal a page is formatted; elsewhere it is Markdown.

    Example: `thalweg docs how-to/ten-minutes`
    """
    if page is None:
        rows = list(manual.titles().items())
        stdout().print(plain_table(("page", "title"), rows, left=2, apart=False))
        note(f"the pages are in {manual.folder()}; thalweg docs PAGE prints one")
        return
    text = manual.page(page)
    if not stdout().is_terminal:
        say(text, end="")
        return
    from rich.markdown import Markdown  # noqa: PLC0415 - for a terminal only

    stdout().print(Markdown(text))
