"""The page of evidence on `thalweg explain FILE`: docs/evidence/explain.md.

Every number is of trials that no test and no threshold has seen: seeds from 20 000 on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from textwrap import wrap

import numpy as np

from pages.explain.measure import FORMS, confusion, named, of_regression, path_errors
from pages.explain.paths import KINDS
from pages.explain.twins import Guess, guesses, has_best
from pages.made import DOCS, fill, made, row
from thalweg.base.quantity import percent
from thalweg.foreign.inference.limits import CAUSES
from thalweg.foreign.inference.who import BUGS

PAGE = DOCS / "evidence" / "explain.md"
SEEDS = range(20_000, 20_002)
"""Traces of each kind: with 14 kinds, 28 in each form. A log of 12 s at 60 Mbps has 35 MB."""
PATH_KINDS = ("bulk", "loss", "satellite")
PATH_SEEDS = range(20_000, 20_010)
NAME_KINDS = {
    "wired": "alone, half of the paths with random loss",
    "shared": "with a CUBIC, BBR or C4",
    "aqm": "FQ-CoDel, PIE or CoDel, marks fed",
    "wifi": "the draft's Wi-Fi jitter, 1.5 to 8 ms",
}
BUG_SCENARIOS = {
    "noq-800": "app-limited-pacing", "noq-819": "reordering-jitter", "lsquic-544": "startup-unfilled-window",
    "picoquic-2118": "frozen-below-128-us", "erlang-quic-57": "clock-below-1-ms", "nginx-217": "acks-late",
    "quiche-1598": "idle-probe-rtt", "quiche-2370": "minimum-window", "quinn-497": "unused-window",
}  # fmt: skip
"""The scenario of the suite regressions in which each bug shows."""
HEALTHY_SEEDS = range(20_200, 20_225)
TWIN_KINDS = {"bulk": "alone", "loss": "with random loss"}
TWIN_SEEDS = range(20_000, 20_015)
LOSSES = (0, 10, 40)
"""The least of each class of files by their random losses."""


def make() -> None:
    """Measures all of it."""
    fill(PAGE, "made", made("explain"))
    make_path()
    make_limits()
    make_bugs()
    make_twins()


def make_path() -> None:
    """The path."""
    fill(PAGE, "path", "\n".join([*_head("what", "traces", "median error", "90 % of errors"), *_path()]))


def make_limits() -> None:
    """The limits, from both forms of files."""
    found = {form: confusion(KINDS, SEEDS, form) for form in FORMS}
    fill(PAGE, "kinds", "\n".join([*_head("kind", "traces", *FORMS), *(kind_row(kind, found) for kind in KINDS)]))
    whole = {form: sum(by.values(), Counter()) for form, by in found.items()}
    fill(PAGE, "causes", "\n".join([*_head("cause", "seconds", *FORMS), *_causes(whole)]))
    for form in FORMS:
        fill(PAGE, f"confusion {form}", "\n".join([*_head("truth", *CAUSES), *_matrix(whole[form])]))


def make_twins() -> None:
    """Other controllers on the paths of files."""
    head = _head("paths", "guesses", "median error", "90 % of errors", "interval covers", "fastest is right")
    found = {kind: [guesses(kind, seed) for seed in TWIN_SEEDS] for kind in TWIN_KINDS}
    lines = [twins_row(words, found[kind]) for kind, words in TWIN_KINDS.items()]
    fill(PAGE, "twins", "\n".join([*head, *lines]))
    lossy = [one for of in found["loss"] for one in of]
    lines = _head(
        "random losses in the file", "guesses", "median error", "90 % of errors", "one deviation of the rate"
    )
    for low, high in zip(LOSSES, (*LOSSES[1:], None), strict=True):
        some = [one for one in lossy if low <= one.losses and (high is None or one.losses < high)]
        if some:
            said = f"{low} to {high - 1}" if high else f"{low} or more"
            counted = float(np.mean([1 / np.sqrt(max(1, one.losses)) for one in some]))
            lines.append(row(said, str(len(some)), *_errors([one.error for one in some]), percent(counted)))
    known = _errors([one.known_error for one in lossy])
    spread = _errors([error for one in lossy for error in one.spread])
    said = (
        f"If the file told the rate of loss, the error would be {known[0]} in the median and {known[1]} for nine "
        f"of ten. One trial of the same path is {spread[0]} from the median of the others in the median, and "
        f"{spread[1]} for nine of ten."
    )
    fill(PAGE, "twins by losses", "\n".join([*lines, "", *wrap(said, 105)]))


def make_bugs() -> None:
    """Known bugs: each in its scenario, and healthy senders."""
    lines = _head("scenario", "bug", "the original", "named from packets", "from a log")
    right = [0, 0]
    for bug, scenario in BUG_SCENARIOS.items():
        found = [of_regression(scenario, bug, is_logged) for is_logged in (False, True)]
        is_named = [one.named == (f"mutant:bug={bug}",) for one in found]
        right = [count + is_right for count, is_right in zip(right, is_named, strict=True)]
        without = next(one.residual for one in found[0].fits if one.controller == BUGS[bug])
        lines.append(row(scenario, bug, f"{without:.3f}", *("yes" if one else "no" for one in is_named)))
    healthy = [
        [named(kind, seed, name, is_logged) for is_logged in (False, True)]
        for kind in NAME_KINDS
        for seed in HEALTHY_SEEDS
        for name in ("cubic", "bbr")
    ]
    accused = [sum(one[form].bug is not None for one in healthy) for form in (0, 1)]
    said = (
        f"{right[0]} of {len(BUG_SCENARIOS)} bugs are named from packets, and {right[1]} from a log that has the "
        f"window and the pacing rate. Of {len(healthy)} healthy senders, CUBIC and BBR on the paths of the table "
        f"above, {accused[0]} are accused by packets, and {accused[1]} by a log."
    )
    fill(PAGE, "bugs", "\n".join([*lines, "", *wrap(said, 105)]))


def twins_row(words: str, found: list[list[Guess]]) -> str:
    """What is said of other controllers on paths, against what came of it."""
    each = [one for of in found for one in of]
    right = percent(float(np.mean([has_best(of) for of in found])))
    covered = percent(float(np.mean([one.covered for one in each])))
    return row(words, str(len(each)), *_errors([one.error for one in each]), covered, right)


def _errors(errors: list[float]) -> list[str]:
    """The median, and what nine of ten do not exceed."""
    return [_small(float(np.quantile(np.abs(errors), part))) for part in (0.5, 0.9)]


def parts() -> list[tuple[str, Callable[[], str]]]:
    """Rows that are cheap to measure again."""
    return [(kind, partial(_again, kind)) for kind in KINDS]


def _again(kind: str) -> str:
    return kind_row(kind, {form: confusion((kind,), SEEDS, form) for form in FORMS})


def kind_row(kind: str, found: dict[str, dict[str, Counter[tuple[str, str]]]]) -> str:
    """What of the seconds of a kind is right, by the form of the file."""
    return row(kind, str(len(SEEDS)), *(percent(_right(by[kind])) for by in found.values()))


def _right(pairs: Counter[tuple[str, str]], cause: str | None = None) -> float:
    of = {pair: count for pair, count in pairs.items() if cause in (None, pair[0])}
    return sum(count for (truth, said), count in of.items() if truth == said) / max(1, sum(of.values()))


def _causes(whole: dict[str, Counter[tuple[str, str]]]) -> list[str]:
    lines = []
    for cause in CAUSES:
        count = sum(number for (truth, _), number in whole["qlog"].items() if truth == cause)
        lines.append(row(cause, str(count), *(percent(_right(pairs, cause)) for pairs in whole.values())))
    total = str(whole["qlog"].total())
    return [*lines, row("all", total, *(percent(_right(pairs)) for pairs in whole.values()))]


def _matrix(pairs: Counter[tuple[str, str]]) -> list[str]:
    return [row(truth, *(str(pairs[truth, said]) for said in CAUSES)) for truth in CAUSES]


def _path() -> list[str]:
    errors = [path_errors(kind, seed) for kind in PATH_KINDS for seed in PATH_SEEDS]
    lines = []
    known = {
        "capacity": [one.capacity for one in errors if one.capacity is not None],
        "base RTT": [one.rtt for one in errors],
        "buffer, where overflow is said": [one.buffer for one in errors if one.buffer is not None],
    }
    for what, values in known.items():
        sizes = np.abs(values)
        parts = (_small(float(np.quantile(sizes, part))) for part in (0.5, 0.9))
        lines.append(row(what, str(sizes.size), *parts))
    wrongly = sum(one.says_overflow and not one.has_overflow for one in errors)
    missed = sum(one.has_overflow and not one.says_overflow for one in errors)
    count = sum(one.has_overflow for one in errors)
    said = f"Of {len(errors) - count} traces without overflow {wrongly} are said to have it; of {count} with it"
    return [*lines, "", f"{said} {missed} are not."]


def _small(share: float) -> str:
    return f"{share * 100:.2f} %"


def _head(*cells: str) -> list[str]:
    return [row(*cells), row(":--", *("--:" for _ in cells[1:]))]
