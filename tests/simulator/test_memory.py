"""What a suite needs of the memory of a machine, from the first trial to the last figure of the report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_STATUS = Path("/proc/self/status")
_RUN = f"""
import sys
from pathlib import Path
from thalweg.cli import main
assert main(sys.argv[1:]) == 0
peak = next(line for line in Path({str(_STATUS)!r}).read_text().splitlines() if line.startswith("VmHWM"))
print("peak", int(peak.split()[1]) / 1024)
"""


@pytest.mark.timeout(600)  # longer than others: a loaded machine must not fail it
@pytest.mark.skipif(not _STATUS.exists(), reason="only Linux tells the peak of a process")
def test_a_suite_with_its_report_stays_below_200_mb(tmp_path: Path) -> None:
    # satellite has the longest trace of the suite, 175 000 rows: the peak of a run of the whole suite is at its
    # figure.
    arguments = ["suite", "c4", "--only", "satellite", "--trials", "2", "--out", str(tmp_path / "result")]
    run = subprocess.run([sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True)
    # The packed drawing program takes 368 kB of the page, the figures the rest.
    assert (tmp_path / "result" / "report.html").stat().st_size > 400_000
    peak_mib = float(run.stdout.rpartition("peak ")[2])
    assert 80 < peak_mib < 200e6 / 2**20
