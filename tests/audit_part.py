"""A part of what is shipped, under the auditor: another part with each commit, and the same for one commit.

    python tests/audit_part.py [SECONDS] [SEED]

Draws scenarios, controllers with their options, stacks and seeds until SECONDS (90) are over; SEED is a text,
the commit unless given. Prints what it drew, and leaves with status 3 at the first finding, with the command that
shows it again.
"""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
import time

from thalweg import Scenario, _native
from thalweg.base.errors import RequestError
from thalweg.engine import catalogue
from thalweg.engine.audit import AuditError

SEEDS = 2
"""Trials of each choice: breadth finds more than depth."""


def controllers() -> list[str]:
    """Every controller, and every choice and flag of its options by itself."""
    names = []
    for entry in _native.controllers():
        names.append(entry["name"])
        for option in entry["options"]:
            words = option["accepted"].split(", ")
            given = [word for word in words if word.replace("-", "").isalnum() and word != option["default"]]
            names += [f"{entry['name']}:{option['name']}={word}" for word in given if len(words) > 1]
    return names


def draw(dice: random.Random) -> tuple[str, str, str, int]:
    """A scenario, the controller of its first flow, the stack of its flows, and a seed."""
    entry = dice.choice([entry for suite in catalogue.list_suites() for entry in suite.entries])
    return entry.reference, dice.choice(controllers()), dice.choice(["model", "quic"]), dice.randrange(1, 10_000)


def play(reference: str, controller: str, stack: str, seed: int, trials: int = SEEDS) -> str:
    """Plays a choice; how it went, in a few words. Raises AuditError."""
    try:
        plain = Scenario.load(reference)
        bindings = {plain.flows[0]["name"]: controller}
        scenario = Scenario.load(reference, {"flow.*.stack": stack}, bindings)
    except RequestError as refused:
        return f"refused: {refused}"
    outcomes = scenario.trials(trials, seed, audit=True)
    return f"{outcomes.n} trials, {outcomes.trials['packets'].sum()} packets"


def command(reference: str, controller: str, stack: str, seed: int, trials: int) -> str:
    """The command that plays a choice again."""
    flow = Scenario.load(reference).flows[0]["name"]
    again = ["thalweg", "run", reference, "-c", f"{flow}={controller}", "--stack", stack]
    return shlex.join([*again, "--seed", str(seed), "--trials", str(trials), "--audit"])


def main(seconds: float, seed: str) -> int:
    """Plays choices until the time is over."""
    print(f"audit: {seconds:g} s of what {seed} chooses")
    dice, end, played = random.Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        reference, controller, stack, first = draw(dice)
        try:
            went = play(reference, controller, stack, first)
        except AuditError as finding:
            print(f"{finding}\n  {command(reference, controller, stack, first, SEEDS)}")
            return 3
        played += 1
        print(f"  {reference} {controller} {stack} from seed {first}: {went}", flush=True)
    print(f"audit: {played} choices, nothing found")
    return 0


def commit() -> str:
    """The commit that is checked out."""
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or _native.version()


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    sys.exit(main(float(given.get(0, "90")), given.get(1) or commit()))
