"""Compares a controller with CUBIC and C4 on scenarios that training has not shown it: `python compare.py learnt.py`.

Prints a table in Markdown: goodput, mean RTT and loss of the flow `main`, medians over the trials of the same seeds.
"""

from __future__ import annotations

import argparse

import polars as pl

from thalweg import Scenario

UNSEEN = {
    "c4/simple-200mbps": "four times the fastest rate of training",
    "c4/satellite": "an RTT of 600 ms",
    "c4/low-and-up": "capacity that rises",
    "c4/drop-and-back": "capacity that drops for two seconds",
    "c4/bad-wifi": "jitter of bad Wi-Fi",
    "search/lossy-long": "random loss",
    "search/beside-cubic": "a competing flow of CUBIC",
    "search/beside-itself": "two more flows of its own, later",
}


def row(scenario: str, controller: str, trials: int) -> str:
    """The cells of a controller on one scenario."""
    flows = [str(flow["name"]) for flow in Scenario.load(scenario).flows if flow["name"] not in ("cubic", "background")]
    bound = Scenario.load(scenario, controllers=dict.fromkeys(flows, controller))
    main = bound.trials(trials, seed=1, jobs=1).flows.filter(pl.col("flow") == "main")
    rate, rtt, loss = (main[column].median() for column in ("mean_rate_bps", "mean_rtt_s", "loss"))
    return f"{rate / 1e6:.3g} Mbps, {rtt * 1e3:.0f} ms, {100 * loss:.2g} %"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("controller", help="a file or a name")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--only", action="append", help="a scenario; all of them without")
    given = parser.parse_args()
    names = [given.controller, "cubic", "c4"]
    print("| scenario | what is new | learnt | CUBIC | C4 |\n|---|---|---|---|---|")
    for scenario in given.only or UNSEEN:
        cells = [row(scenario, name, given.trials) for name in names]
        print(f"| `{scenario}` | {UNSEEN.get(scenario, '')} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
