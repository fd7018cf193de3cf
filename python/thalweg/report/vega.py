"""The drawing program that a page carries, so that it needs no network."""

from __future__ import annotations

import subprocess
import sys

from thalweg.errors import RequestError

_EXPOSE = "window.vegaEmbed = vegaEmbed;"
"""What the page needs of the drawing program."""
_BUNDLE = f"import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle({_EXPOSE!r}))"


def vega() -> str:
    """The text of the drawing program, fit for a script element. Raises RequestError.

    A process of its own makes it: the JavaScript engine that bundles it would keep 150 MB until the end.
    """
    made = subprocess.run([sys.executable, "-P", "-c", _BUNDLE], capture_output=True, check=False)
    if made.returncode != 0:
        problem = made.stderr.decode(errors="replace").strip().splitlines()
        raise RequestError(f"cannot bundle the drawing program: {problem[-1] if problem else 'it was killed'}")
    return made.stdout.decode().replace("</script", "<\\/script")
