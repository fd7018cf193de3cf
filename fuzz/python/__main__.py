"""Random cases against stored results, pages and the probe: see `../README.md`.

python fuzz/python run [--seconds N] [--seed TEXT] [--targets A,B] [--corpus FOLDER]
python fuzz/python replay [PATH]       replays a case of the corpus, or all of them
python fuzz/python case TARGET SEED    regenerates the case of that seed, runs it and prints it
python fuzz/python list                names the targets
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import corpus
import driver
from failure import Broken
from player import Player, play_forever
from targets import ALL


def main() -> int:
    """Runs the command: 0 if every rule held, 1 if not."""
    parser = argparse.ArgumentParser(prog="fuzz/python")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--seconds", type=float, default=60.0)
    run.add_argument("--seed", default="0")
    run.add_argument("--targets", default=",".join(ALL))
    run.add_argument("--corpus", type=Path, default=corpus.FOLDER)
    commands.add_parser("replay").add_argument("path", type=Path, nargs="?", default=corpus.FOLDER)
    case = commands.add_parser("case")
    case.add_argument("target", choices=ALL)
    case.add_argument("seed", type=int)
    commands.add_parser("play").add_argument("target", choices=ALL)  # what the driver says to itself
    commands.add_parser("list")
    given = parser.parse_args()
    match given.command:
        case "run":
            targets = given.targets.split(",")
            if strange := [name for name in targets if name not in ALL]:
                parser.error(f"there is no target {strange[0]!r}; accepted: {', '.join(ALL)}")
            return min(driver.run(targets, given.seconds, given.seed, given.corpus), 1)
        case "replay":
            cases, failed = corpus.replay(given.path)
            print(f"{cases} cases, {failed} failed")
            return min(failed, 1)
        case "case":
            return _case(given.target, given.seed)
        case "play":
            play_forever(given.target)
        case _:
            print("\n".join(ALL))
    return 0


def _case(target: str, seed: int) -> int:
    with Player(target) as player:
        case = player.made(seed)
        print("\n".join(json.dumps(step) for step in case))
        try:
            print(f"# {player.again(case)}")
        except Broken as broken:
            print(f"# {broken}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
