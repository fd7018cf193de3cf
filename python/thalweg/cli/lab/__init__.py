"""`thalweg lab`: the page on which scenarios are changed and seen, with the trials on this machine."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from thalweg.base.extras import require
from thalweg.cli.console import say
from thalweg.cli.interruption import stopped_by_terminate
from thalweg.lab.import_path import leave_out


def lab(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Scenarios to offer. Nothing outside is read or written.")
    ] = Path(),
    port: Annotated[int, typer.Option("--port", help="Port on the loopback interface; 0: any free one.")] = 0,
    python: Annotated[
        bool,
        typer.Option(
            "--python",
            help="Run Python controllers from the folder, even for linked scenarios.",
        ),
    ] = False,
    trial: Annotated[
        str | None,
        typer.Option("--trial", metavar="LINK", help="Open the trial of a link of the lab or of a report."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser of this machine.")] = False,
) -> None:
    """Serve the lab to a browser on this machine, until Ctrl-C.

    Its address contains a token: whoever has it can run trials here.

    Example: `thalweg lab my-scenarios --open`
    """
    leave_out(folder)
    require("lab", "the lab")
    from thalweg.lab.folder import Folder  # noqa: PLC0415 - the packages of the extra
    from thalweg.lab.opener import opener  # noqa: PLC0415
    from thalweg.lab.server import Server  # noqa: PLC0415
    from thalweg.pages.lab_link import fragment_of  # noqa: PLC0415

    fragment = fragment_of(trial) if trial else ""
    server = Server(Folder.at(folder, python), port)
    address = server.address + fragment
    say(f"open {address}")
    with stopped_by_terminate():  # a sweep is stopped, and the file that leads to the page removed
        if not open_:
            server.run()
            return
        with opener(address) as page:
            server.run(lambda: webbrowser.open(page))
