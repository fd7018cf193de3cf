"""How many scenarios a hunt needs for the planted defect of `tests/hunt`, against random draws of the same space.

    python bench/hunt.py [SEEDS] [SAMPLER...]     search seeds 1 to 10 of evolution and random, if nothing is said
    python bench/hunt.py 31-60                    others

The defect is found by the first scenario in which the flow has less than half of the reference's rate: without it,
the regret is 0.9 to 1.1. What `evolution` finds is shrunk, and its numbers are counted before and after. A search
is ended where it finds nothing in `_MOST` scenarios, and counts as that many.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from statistics import median

from thalweg import Hunt
from thalweg.base.executor import Batch
from thalweg.experiments.hunt.find import count
from thalweg.experiments.hunt.judge import Judge
from thalweg.experiments.hunt.plan import HuntPlan
from thalweg.experiments.hunt.search import AT_ONCE, Search
from thalweg.trials.machine import ThisMachine

PLAN = Path(__file__).parent.parent / "tests" / "hunt" / "planted.toml"
BOUND = 2.0
_MOST = 4000


def until(plan: HuntPlan, most: int = _MOST) -> int | None:
    """The number of the first scenario of a search that is beyond the bound; None if none of so many is."""
    judge, search = Judge(plan), Search(plan.sampler, plan.search_seed, plan.clock)
    found: list[int] = []

    def steps() -> Generator[Batch, None, None]:
        for first in range(1, most + 1, AT_ONCE):
            asked = search.ask(AT_ONCE)
            drawn = [plan.draw(one) for one in asked]
            documents = [document for document in drawn if document is not None]  # all: the plan excludes none
            values = yield from judge.values(documents)
            search.tell(asked, values, [judge.seen(document) for document in documents])
            found.extend(n for n, value in enumerate(values, first) if value is not None and value >= BOUND)
            if found:
                return

    ThisMachine().play(steps(), judge.take)
    return found[0] if found else None


def main(words: list[str]) -> None:
    """Prints a line for each search, and the medians."""
    first, _, last = (words[0] if words else "1-10").rpartition("-")
    seeds, samplers = range(int(first or 1), int(last) + 1), words[1:] or ["evolution", "random"]
    plan = Hunt.load(PLAN).plan
    needed: dict[str, list[int]] = {}
    ratios = []
    for sampler in samplers:
        for seed in seeds:
            own = replace(plan, sampler=sampler, search_seed=seed)
            number = until(own)
            needed.setdefault(sampler, []).append(number or _MOST)
            print(f"{sampler}, search seed {seed}: {number or f'none in {_MOST}'}", flush=True)
            if sampler == "evolution" and number:
                find = Hunt.of(replace(own, budget=-(-number // AT_ONCE) * AT_ONCE)).run()
                ratios.append(count(find.shrunk) / count(find.found))
                print(f"  shrunk from {count(find.found)} to {count(find.shrunk)} numbers", flush=True)
    for sampler, numbers in needed.items():
        print(f"{sampler}: median {median(numbers):g} of {sorted(numbers)}")
    if ratios:
        print(
            f"numbers left: median {median(ratios):.2f} of {', '.join(f'{ratio:.2f}' for ratio in sorted(ratios))}"
        )
    if len(needed) == len({"evolution", "random"}):
        print(f"random over evolution: {median(needed['random']) / median(needed['evolution']):.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
