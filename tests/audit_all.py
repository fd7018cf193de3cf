"""All that is shipped, under the auditor: every scenario with every controller in the place of its first flow.

    python tests/audit_all.py LOG [TRIALS] [STACK ...]

Plays TRIALS (100) of each choice on each STACK (model, quic) and appends a line for each to LOG. What LOG holds
already is not played again, so that a run that was interrupted goes on. Ends with status 3 if there were findings.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from audit_part import command, controllers, play
from thalweg.engine import catalogue
from thalweg.engine.audit import AuditError

FIRST = 1
"""The first seed."""


def main(log: Path, trials: int, stacks: list[str]) -> int:
    """Plays what the log does not hold."""
    known = log.read_text().splitlines() if log.exists() else []
    done = {line.split(": ")[0] for line in known}
    references = [entry.reference for suite in catalogue.list_suites() for entry in suite.entries]
    with log.open("a") as out:
        for stack, reference, controller in product(stacks, references, controllers()):
            choice = f"{reference} {controller} {stack} {trials} trials"
            if choice in done:
                continue
            try:
                went = play(reference, controller, stack, FIRST, trials)
            except AuditError as finding:
                went = f"FINDING {finding}; {command(reference, controller, stack, FIRST, trials)}"
            print(f"{choice}: {went}", file=out, flush=True)
    lines = log.read_text().splitlines()
    findings = [line for line in lines if "FINDING" in line]
    print("\n".join([*findings, f"{len(lines)} choices, {len(findings)} findings"]))
    return 3 if findings else 0


if __name__ == "__main__":
    _, path, *rest = sys.argv
    sys.exit(main(Path(path), int(rest[0]) if rest else 100, rest[1:] or ["model", "quic"]))
