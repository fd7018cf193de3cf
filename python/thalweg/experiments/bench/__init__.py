"""Programs side by side in real time: what `thalweg bench` measures."""

from thalweg.experiments.bench.bench import Bench, Plan, run_bench
from thalweg.experiments.bench.side import Side, side_of

__all__ = ["Bench", "Plan", "Side", "run_bench", "side_of"]
