"""Measures how often intervals miss and claims are wrong, and writes docs/explanation/statistics.md.

The words of the page are in `statistics.toml`.

Every line has draws of its own, from one fixed seed and its words: the same version writes the same page, and a
line can be measured again without those before it.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from pages import detection, null
from pages.made import DOCS, made, row
from thalweg.experiments.studies.fairness import checks as fairness_checks
from thalweg.experiments.studies.fairness.parameters import Cell as FairnessCell
from thalweg.experiments.studies.harm import checks as harm_checks
from thalweg.experiments.studies.harm.measure import MEASURES, Trials
from thalweg.experiments.studies.harm.metric import harm_less_is_better
from thalweg.experiments.studies.harm.parameters import Cell as HarmCell
from thalweg.experiments.studies.laws.checks import checks as law_checks
from thalweg.experiments.studies.laws.experiment import Quantity
from thalweg.experiments.studies.loopback import checks as loopback_checks
from thalweg.experiments.studies.runner.result import Check
from thalweg.experiments.studies.slow_start import checks as slow_start_checks
from thalweg.experiments.studies.slow_start.measure import level_column
from thalweg.experiments.studies.slow_start.parameters import Parameters as SlowStartParameters
from thalweg.experiments.studies.stacks.checks import check as check_stacks
from thalweg.experiments.studies.transient import checks as transient_checks
from thalweg.experiments.studies.transient.parameters import Cell as TransientCell
from thalweg.judging.statistics import differences
from thalweg.judging.statistics.claims import FAILS, HOLDS, Answer
from thalweg.judging.statistics.differences import in_pairs, of_all, rank_correlation
from thalweg.judging.statistics.discovery import discoveries
from thalweg.judging.statistics.interval import Interval, Values
from thalweg.judging.statistics.means import mean_interval
from thalweg.judging.statistics.quantiles import least_worst, quantile_interval
from thalweg.judging.statistics.rates import rate_interval, rate_upper_bound
from thalweg.judging.statistics.ratios import ratio_interval, ratio_of_medians
from thalweg_c4_history import checks as wifi_compete_checks

Draw = Callable[[int], Values]
Sides = tuple[float | None, float | None]
"""How many intervals lie wholly below and above the truth, in per cent; None where there is no such side."""
SEED = 20261122
rng = np.random.default_rng(SEED)


@dataclass(frozen=True)
class Distribution:
    """What trials are drawn from."""

    name: str
    draw: Draw
    quantile: Callable[[float], float]


def _lognormal(spread: float) -> Distribution:
    return Distribution(
        f"log-normal, {spread:g}",
        lambda n: rng.lognormal(0, spread, n),
        lambda p: float(np.exp(spread * ndtri(p))),
    )


NARROW, WIDE = _lognormal(0.05), _lognormal(0.5)
EXPONENTIAL = Distribution("exponential", lambda n: rng.exponential(1, n), lambda p: -math.log(1 - p))
CUT = Distribution(
    "log-normal, 0.3, 40 % unfinished",
    lambda n: np.where(rng.uniform(size=n) < 0.4, math.inf, rng.lognormal(0, 0.3, n)),
    # the 5/6 quantile of a normal one
    lambda p: float(np.exp(0.3 * 0.9674215661017012)) if p == 0.5 else math.nan,
)

HALF_UNFINISHED = "log-normal, 0.3, 50 % unfinished"


@dataclass(frozen=True)
class Line:
    """How often an interval misses: a line of the page."""

    what: str
    drawn: str
    n: int
    measure: Callable[[int], Sides]
    promised: str = "2.5 each"

    def cells(self, draws: int) -> tuple[str, ...]:
        """Draws many intervals, the same ones whatever else is drawn."""
        seed(f"{self.what} {self.drawn} {self.n}")
        sides = ("-" if side is None else f"{side:.1f}" for side in self.measure(draws))
        return (self.what, self.drawn, str(self.n), *sides, self.promised)


def seed(text: str) -> None:
    """Begins the sequence of draws that belongs to what is measured."""
    rng.bit_generator.state = np.random.default_rng([SEED, *text.encode()]).bit_generator.state


def misses(make: Callable[[], Interval], truth: float, draws: int) -> Sides:
    """Draws many intervals."""
    made = [make() for _ in range(draws)]
    below, above = sum(interval.high < truth for interval in made), sum(interval.low > truth for interval in made)
    return 100 * below / draws, 100 * above / draws


def intervals() -> Iterator[Line]:
    """Every interval that the product prints."""
    yield from _quantiles()
    yield from _rates_and_means()
    yield from _ratios()
    yield from _differences()


def _quantiles() -> Iterator[Line]:
    for n, of in product((6, 20, 100), (NARROW, WIDE, EXPONENTIAL)):
        yield _quantile_line("median", of, n, 0.5)
    for n in (6, 20, 100):
        yield _quantile_line("median", CUT, n, 0.5)
    for n in (6, 20, 100):
        yield Line("median", HALF_UNFINISHED, n, partial(_half_unfinished, n))
    for n, of in product((100, 1000), (WIDE, EXPONENTIAL)):
        yield _quantile_line("95th percentile", of, n, 0.95)
    for n in (20, 100, 1000):
        yield Line("worst of as many further trials", WIDE.name, n, partial(_worst, n), "at most 5 above")


def _quantile_line(what: str, of: Distribution, n: int, fraction: float) -> Line:
    make = partial(_quantile, of, n, fraction)
    return Line(what, of.name, n, partial(misses, make, of.quantile(fraction)))


def _worst(n: int, draws: int) -> Sides:
    return None, 100 * float(np.mean([WIDE.draw(n).max() < least_worst(WIDE.draw(n)) for _ in range(draws)]))


def _half_unfinished(n: int, draws: int) -> Sides:
    """Where half of the cases finish, each number from the largest time on is a median, as is infinity."""
    made = []
    for _ in range(draws):
        cut = rng.uniform(size=n) < 0.5
        made.append(quantile_interval(np.where(cut, math.inf, rng.lognormal(0, 0.3, n)), 0.5))
    below, above = (
        sum(interval.high < math.inf for interval in made),
        sum(interval.low == math.inf for interval in made),
    )
    return 100 * below / draws, 100 * above / draws


def _quantile(of: Distribution, n: int, fraction: float) -> Interval:
    return quantile_interval(of.draw(n), fraction)


def _rates_and_means() -> Iterator[Line]:
    for rate in (0.03, 0.15):
        drawn = f"rate of {rate:.0%}"
        yield Line("failure rate, upper bound", drawn, 100, partial(_upper_bound, rate), "at most 5 below")
        yield Line("rate", drawn, 100, partial(misses, partial(_rate, rate), rate))
    for n in (6, 20):
        yield Line("mean", "normal", n, partial(misses, partial(_mean, n), 0.0))
    for spread in (0.02, 0.05, 0.1):
        drawn = f"nothing happens, sides vary by {spread:.0%}"
        yield Line("harm, against its expectation", drawn, 20, partial(_harm_of_nothing, spread))
        against_0 = partial(misses, partial(_no_harm, spread), 0.0)
        yield Line("harm, against 0", drawn, 20, against_0, "2.5 above; below, see limits")


def _upper_bound(rate: float, draws: int) -> Sides:
    bounds = [rate_upper_bound(int(rng.binomial(100, rate)), 100) for _ in range(draws)]
    return 100 * float(np.mean(np.array(bounds) < rate)), None


def _harm_of_nothing(spread: float, draws: int) -> Sides:
    expected = float(np.mean(harm_less_is_better(*rng.lognormal(0, spread, (2, 1_000_000)))))
    return misses(partial(_no_harm, spread), expected, draws)


def _rate(rate: float) -> Interval:
    return rate_interval(int(rng.binomial(100, rate)), 100)


def _mean(n: int) -> Interval:
    return mean_interval(rng.normal(0, 1, n))


def _no_harm(spread: float) -> Interval:
    return mean_interval(harm_less_is_better(*rng.lognormal(0, spread, (2, 20))))


def _ratios() -> Iterator[Line]:
    for n, of in product((6, 20, 100), (NARROW, WIDE, CUT)):
        yield Line("ratio of medians", of.name, n, partial(misses, partial(_medians, of, n), 1.0))
    for of in (WIDE, EXPONENTIAL):
        yield Line("ratio of tails", of.name, 100, partial(misses, partial(_tails, of), 1.0))


def _medians(of: Distribution, n: int) -> Interval:
    return ratio_of_medians(of.draw(n), of.draw(n))


def _tails(of: Distribution) -> Interval:
    return ratio_interval(transient_checks.TAIL, of.draw(100), of.draw(100))


def _compared(compare: Callable[[Values, Values], Interval], rho: float, n: int) -> Interval:
    return compare(*correlated(rho, n))


def _differences() -> Iterator[Line]:
    for n in (4, 5, 6):
        make = partial(_few_of_all, n)
        yield Line("difference, all with all", "normal, no seeds in common", n, partial(misses, make, 0.0))
    for rho, n in product((0.8, 0.0, -0.3), (20, 100)):
        for what, compare in (("in pairs", pairs), ("all with all", everything), ("the sharper", sharper)):
            if compare is everything and rho > 0:
                continue  # wider than need be, and not used there
            drawn = f"normal, rank correlation {rho:g}"
            make = partial(_compared, compare, rho, n)
            yield Line(f"difference, {what}", drawn, n, partial(misses, make, 0.0))


def _few_of_all(n: int) -> Interval:
    return of_all(*rng.normal(size=(2, n))).interval


def correlated(rho: float, n: int) -> tuple[Values, Values]:
    """Pairs with a rank correlation; the one of normal values is a little higher."""
    pearson = 2 * math.sin(math.pi / 6 * rho)
    first, rest = rng.normal(size=(2, n))
    return first, pearson * first + math.sqrt(1 - pearson**2) * rest


def pairs(a: Values, b: Values) -> Interval:
    """The interval from the differences within pairs."""
    return in_pairs(a, b).interval


def everything(a: Values, b: Values) -> Interval:
    """The interval from all differences."""
    return of_all(a, b, correlation=rank_correlation(a, b)).interval


def sharper(a: Values, b: Values) -> Interval:
    """As `compare` chooses."""
    return differences.sharper(a, b)[0].interval


@dataclass(frozen=True)
class Alarms:
    """How often a check answers although its truth lies at its margin, in per cent."""

    study: str
    check: str
    n: int
    holds: float
    fails: float


def alarms(
    study: str, names: dict[str, str], n: int, make: Callable[[], list[Check]], draws: int
) -> Iterator[Alarms]:
    """Draws the data of checks many times. `names`: what the page calls a check, and how its own name begins."""
    answers: dict[str, Counter[Answer]] = {name: Counter() for name in names}
    for _ in range(draws):
        made = make()
        for name, begin in names.items():
            answers[name][next(check for check in made if check.name.startswith(begin)).answer] += 1
    for name, counted in answers.items():
        yield Alarms(study, name, n, 100 * counted[HOLDS] / draws, 100 * counted[FAILS] / draws)


def checks() -> list[tuple[str, Callable[[int], Iterator[Alarms]]]]:
    """Every kind of check of every study, with the truth at its margin."""
    return [
        ("fairness", _fairness),
        ("harm", _harm),
        ("transient", _transient),
        ("wifi-compete", _wifi),
        ("other studies", _others),
        ("laws", _laws),
        ("slow-start", _slow_start),
    ]


def check_lines(what: str, measure: Callable[[int], Iterator[Alarms]], draws: int) -> list[str]:
    """The lines of some studies."""
    seed(f"checks of {what}")
    return [row(a.study, a.check, str(a.n), f"{a.holds:.1f}", f"{a.fails:.1f}") for a in measure(draws)]


def _fairness(draws: int) -> Iterator[Alarms]:
    names = ("c4", "cubic", "bbr", "bbr1", "reno", "prague")

    def cell(ratio: float = 1.0, share: float = 1.0, least: float = 0.5) -> dict[str, Values]:
        first = share + rng.normal(0, 0.2, 20)
        return {
            "ratio": ratio * rng.lognormal(0, 0.4, 20),
            "first": first,
            "last": 2 - first,
            "least": least * rng.lognormal(0, 0.2, 20),
        }

    def made() -> list[Check]:
        cells = {FairnessCell((name, name)): cell(ratio=3) for name in names}
        cells |= {FairnessCell(("bbr1", name), buffer_bdp=0.5): cell() for name in ("reno", "cubic")}
        cells |= {FairnessCell(("reno", "reno"), rtt_ratio=8.0): cell()}
        cells |= {FairnessCell((name, name), queue="fq-codel"): cell() for name in names}
        return fairness_checks.checks(cells)

    yield from alarms(
        "fairness",
        {
            "rates within a factor of 3, six controllers": "two flows",
            "BBRv1 takes more, from two controllers": "BBRv1",
            "the longer RTT gets less": "of two Reno",
            "fair queueing protects the weakest": "fair queueing",
        },
        20,
        made,
        draws,
    )


def _harm(draws: int) -> Iterator[Alarms]:
    rtts = ("10 ms", "20 ms", "40 ms", "80 ms", "160 ms")

    def made() -> list[Check]:
        cells = {}
        for rtt, competitor in product(rtts, (None, "cubic", "prague")):
            times = rng.lognormal(0, 0.03, 20)
            values = {measure.name: times for measure in MEASURES}
            cells[HarmCell(rtt, "cubic", competitor)] = Trials(values, 900, 0, None, 0.0)
        return harm_checks.checks(cells)

    yield from alarms(
        "harm",
        {
            "harm at five RTTs": "one long CUBIC",
            "more harm at five RTTs": "Prague harms them more",
            "less harm at the longest RTT": "CUBIC harms less",
        },
        20,
        made,
        draws,
    )


def _transient(draws: int) -> Iterator[Alarms]:
    def made(unfinished: float) -> list[Check]:
        cells = {}
        for buffer, name in product(
            (transient_checks.SMALL, transient_checks.LARGE), ("reno", "cubic", transient_checks.PUBLISHED_BBR)
        ):
            area = rng.lognormal(0, 0.3, 100)
            cells[TransientCell(buffer, name)] = np.where(rng.uniform(size=100) < unfinished, math.inf, area)
        return transient_checks.checks(cells)

    better, tail = "reno reacts worse", f"small buffer: {transient_checks.PUBLISHED_BBR} has"
    names = {"reacts better": better, "a long tail, against two": tail}
    yield from alarms("transient", names, 100, lambda: made(0.0), draws)
    yield from alarms("transient", {"reacts better, half do not converge": better}, 100, lambda: made(0.5), draws)


def _wifi(draws: int) -> Iterator[Alarms]:
    noise, tolerance = wifi_compete_checks.NOISE, wifi_compete_checks.MEDIAN_TOLERANCE

    def ratio(at: float) -> Interval:
        return ratio_of_medians(at * rng.lognormal(0, 0.3, 100), rng.lognormal(0, 0.3, 100))

    def made() -> list[Check]:
        return [
            Check("faster", "", wifi_compete_checks.before(ratio(1)), ""),
            Check("not slower", "", wifi_compete_checks.not_after(ratio(1 + noise)), ""),
            Check("gains nothing", "", wifi_compete_checks.not_before(ratio(1 - noise)), ""),
            Check("within noise", "", wifi_compete_checks.within_noise(ratio(1 + noise)), ""),
            wifi_compete_checks.median_check(
                "v1", "alone", 10.0, 10 * (1 + tolerance) * rng.lognormal(0, 0.3, 100)
            ),
        ]

    names = {name: name for name in ("faster", "not slower", "gains nothing", "within noise")}
    yield from alarms("wifi-compete", {**names, "median within 15 %": "median of v1"}, 100, made, draws)


def _others(draws: int) -> Iterator[Alarms]:
    def stack() -> list[Check]:
        interval = ratio_of_medians(1.05 * rng.lognormal(0, 0.05, 20), rng.lognormal(0, 0.05, 20))
        columns = {
            "quic_over_wide": interval.value - 1,
            "quic_over_wide_low": interval.low - 1,
            "quic_over_wide_high": interval.high - 1,
        }
        return [check_stacks({"scenario": "", "controller": "", "n": 20, **columns})]

    yield from alarms("stacks", {"medians within 5 %": ""}, 20, stack, draws)

    def rounds() -> list[Check]:
        runs = {name: rng.lognormal(0, 0.05, 10) for name in ("c4-1/32", "c4-1/16", "cubic", "bbr")}
        runs |= {"c4-before": 0.5 * rng.lognormal(0, 0.05, 10), "c4-floor": rng.lognormal(0, 0.05, 10)}
        runs |= {"c4-3/64": 0.95 * rng.lognormal(0, 0.05, 10)}
        losses = {name: 1e-4 * rng.lognormal(0, 0.5, 10) for name in ("c4-3/64", "c4-1/16")}
        return loopback_checks.checks(runs, losses)  # type: ignore[arg-type]

    yield from alarms(
        "loopback",
        {
            "far below two others": "before the fix",
            "at least twice as fast": "the floor helps",
            "above another": "with the floor",
            "at the level of CUBIC": "with 3/64",
            "more losses": "more losses",
        },
        10,
        rounds,
        draws,
    )


def _laws(draws: int) -> Iterator[Alarms]:
    def made() -> list[Check]:
        def measured(stack: str, mean: float) -> Quantity:
            values = rng.normal(mean, 0.02, 6)
            return Quantity("law", "", "one", stack, "", 1.0, 0.9, 1.1, "", "", values, compared=True)

        # At the upper bound, and 5 % from the other stack.
        return law_checks([measured("model", 1.1), measured("quic", 1.155)])

    names = {"between two bounds": "law: one, modelled", "stack and model within 5 %": "law: one, stack and model"}
    yield from alarms("laws", names, 6, made, draws)


def _slow_start(draws: int) -> Iterator[Alarms]:
    parameters = SlowStartParameters()
    trials = parameters.trials
    cells = [cell for cell in parameters.cells() if not cell.jittered and not cell.application]

    def made() -> list[Check]:
        measured = {
            cell: {
                "early": (rng.uniform(size=trials) < slow_start_checks.MOST_EARLY).astype(float),
                "late": (rng.uniform(size=trials) < slow_start_checks.LEAST_LATE).astype(float),
                level_column(slow_start_checks.LEVEL): rng.lognormal(0, 0.1, trials),
            }
            for cell in cells
        }
        return slow_start_checks.checks(parameters, measured)

    paths = len({cell.condition for cell in cells})
    shares = {"classic ends with a loss": "classic slow start ends", "SEARCH is not early": "SEARCH does not"}
    times = {f"Rapid Start is sooner, {paths} paths": "Rapid Start", "Careful Resume is sooner": "Careful Resume"}
    n = trials * parameters.phases
    yield from alarms("slow-start", shares, n * paths, made, draws)
    yield from alarms("slow-start", times, n, made, draws)


def matrices(draws: int) -> tuple[float, float, float]:
    """Shares in matrices of nothing: cells that differ at 5 %, matrices with one, with one after correction."""
    chances = [
        [of_all(*WIDE.draw(40).reshape(2, 20)).p_differs for _ in range(36)] for _ in range(max(draws // 4, 1))
    ]
    cells = 100 * float(np.mean(np.array(chances) <= 0.05))
    some = 100 * float(np.mean([min(matrix) <= 0.05 for matrix in chances]))
    found = 100 * float(np.mean([any(discoveries(matrix)) for matrix in chances]))
    return cells, some, found


def main(draws: int) -> None:
    """Writes the page."""
    file = Path(__file__)
    words = tomllib.loads(file.with_suffix(".toml").read_text(encoding="utf-8"))
    error = 100 * math.sqrt(0.025 * 0.975 / draws)
    lines = [
        words["introduction"].format(draws=draws, error=error),
        "| interval | trials from | n | below the truth, % | above, % | promised, % |",
        "|---|---|--:|--:|--:|--:|",
    ]
    lines += [row(*line.cells(draws)) for line in intervals()]
    head = "| study | check | n | said to hold, % | said not to hold, % |"
    lines += ["\n" + words["checks"], head, "|---|---|--:|--:|--:|"]
    for what, measure in checks():
        lines += check_lines(what, measure, draws)
    seed("matrices")
    cells, some, found = matrices(draws)
    lines.append("\n" + words["matrices"].format(cells=cells, some=some, found=found).rstrip("\n") + "\n")
    lines += [words["detection"], *detection.table(draws)]
    lines += ["\n" + words["null"], *null.table()]
    lines += ["\n" + words["limits"].rstrip("\n") + "\n", made("statistics") + "\n"]
    (DOCS / "explanation/statistics.md").write_text("\n".join(lines), encoding="utf-8")
