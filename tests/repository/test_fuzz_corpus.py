"""What random cases found once, in what is stored, drawn and probed, stays mended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[2] / "fuzz"


def test_every_case_of_the_corpus_holds() -> None:
    done = subprocess.run(
        [sys.executable, str(FUZZ / "python"), "replay"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    played, _, _ = done.stdout.splitlines()[-1].partition(" cases")
    assert int(played) >= 1
