"""What is published about fairness, and whether the rows say the same.

A check needs its rows: it is left out where the controllers or conditions that it speaks of were not run.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.studies.result import Check, Row

_MODEL_BASED = "bbr1"
_LOSS_BASED = ("reno", "cubic")


def checks(rows: Sequence[Row]) -> list[Check]:
    """The checks that the rows allow."""
    made = [_itself(rows), _shallow(rows), _long_rtt(rows), _fair_queue(rows)]
    return [check for check in made if check is not None]


def _pairs(rows: Sequence[Row], **conditions: object) -> list[Row]:
    base = {"buffer_bdp": 1.0, "rtt_ratio": 1.0, "queue": "drop-tail"} | conditions
    return [row for row in rows if row["flows"] == 2 and all(row[key] == value for key, value in base.items())]


def _number(row: Row, column: str) -> float:
    value = row[column]
    assert isinstance(value, int | float)
    return float(value)


def _itself(rows: Sequence[Row]) -> Check | None:
    alike = [row for row in _pairs(rows) if row["first"] == row["second"]]
    if not alike:
        return None
    ratios = {str(row["first"]): _number(row, "ratio") for row in alike}
    return Check(
        "two flows of one controller and one RTT have rates within a factor of 3",
        "RFC 8868 section 4.3; RFC 9743 section 5.1.3",
        all(ratio <= 3 for ratio in ratios.values()),
        ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
    )


def _shallow(rows: Sequence[Row]) -> Check | None:
    shares = {
        str(row["second"]): _number(row, "first_of_fair")
        for row in _pairs(rows, buffer_bdp=0.5)
        if row["first"] == _MODEL_BASED and row["second"] in _LOSS_BASED
    }
    if not shares:
        return None
    return Check(
        "BBRv1 takes more than its share from loss-based flows in a buffer below 1.5 BDP",
        "RFC 9743 section 5.1.1; Ware et al., IMC 2019",
        all(share > 1 for share in shares.values()),
        ", ".join(f"against {name} {share:.0%} of fair" for name, share in shares.items()),
    )


def _long_rtt(rows: Sequence[Row]) -> Check | None:
    ratios = sorted({_number(row, "rtt_ratio") for row in rows})
    reno = [row for row in _pairs(rows, rtt_ratio=ratios[-1]) if row["first"] == row["second"] == "reno"]
    if ratios[-1] == 1 or not reno:
        return None
    first, second = (_number(reno[0], column) for column in ("first_of_fair", "second_of_fair"))
    return Check(
        "of two Reno flows, that with the longer RTT gets less",
        "RFC 9438 section 5.1 (rates fall with the RTT); RFC 5166 section 2.3.2",
        first > second,
        f"RTT ratio {ratios[-1]:g}: {first:.0%} and {second:.0%} of fair",
    )


def _fair_queue(rows: Sequence[Row]) -> Check | None:
    fair, mixed = _pairs(rows, queue="fq-codel"), _pairs(rows)
    if not fair or not mixed:
        return None
    least = [min(_number(row, "least_of_fair") for row in group) for group in (mixed, fair)]
    return Check(
        "fair queueing protects the weakest flow of all pairs",
        "RFC 8290 section 1",
        least[1] > least[0],
        f"the weakest gets {least[0]:.0%} of fair with drop-tail, {least[1]:.0%} with FQ-CoDel",
    )
