"""What the engine says of its metrics: the page of metrics and all who name one agree with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import thalweg
from thalweg import _native
from thalweg.experiments.dossier.numbers import MADE, NUMBERS
from thalweg.experiments.hunt.objective import KINDS
from thalweg.judging.derived import _RENAMED, DERIVED, NAMED
from thalweg.judging.measures import MEASURES, METRICS, USUAL
from thalweg.judging.thresholds import DEFAULTS

PRODUCT = Path(thalweg.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def rows() -> dict[str, tuple[str, str]]:
    """Unit and the rest of the row of each metric of a flow or a stream, as the page has it."""
    found: dict[str, tuple[str, str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        names, unit, rest = ([*line.strip("|").split("|", 2), "", "", ""])[:3]
        if re.fullmatch(r"\| (`[a-z0-9-]+`(, )?)+ \|.*", line):
            found |= dict.fromkeys(re.findall(r"`([a-z0-9-]+)`", names), (unit.strip(), rest))
    return found


def test_names_are_unique() -> None:
    assert len(METRICS) == len(_native.metrics())


def test_every_metric_has_a_row_with_its_unit_on_the_page() -> None:
    page = rows()
    for name, metric in METRICS.items():
        assert name in page, name
        if metric.of != "controller":
            assert page[name][0] == metric.unit, name


def test_the_page_says_which_metrics_only_virtual_time_measures() -> None:
    page = rows()
    of_flows = [metric for metric in METRICS.values() if metric.of == "flow"]
    said = {metric.name for metric in of_flows if "virtual time only" in page[metric.name][1]}
    assert said == {metric.name for metric in of_flows if metric.virtual_only}


def test_the_page_has_each_derived_number_as_its_registry_says_it() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Derived")[2].partition("\n## ")[0].splitlines()
    said = [[cell.strip() for cell in line.strip("|").split("|")] for line in page if line.startswith("| `")]
    assert said == [[f"`{one.name}`", one.unit, one.of, one.better or "", one.meaning] for one in DERIVED.values()]


def test_a_name_is_one_quantity() -> None:
    assert not {*METRICS} & {*DERIVED}
    headings = [(one.of, one.heading) for one in NAMED.values()]
    assert len(set(headings)) == len(headings)


def test_whoever_names_a_number_names_one_of_the_registries() -> None:
    assert {*NUMBERS, *KINDS} <= {*NAMED}
    assert {*(kind.metric for kind in KINDS.values()), *sum(USUAL.values(), ())} <= {*METRICS}
    assert {*DEFAULTS} <= {*MEASURES}
    for name, number in NUMBERS.items():
        assert number.unit == NAMED[name].unit
        assert NAMED[name].better in (None, number.better)
    for name, made in MADE.items():
        assert METRICS[made.metric].unit == NUMBERS[name].unit


def test_old_names_have_new_ones_that_are_in_the_registries() -> None:
    known = {*NAMED, *(one.column for one in NAMED.values())}
    for of, old in _RENAMED.items():
        assert {*old.values()} <= known
        assert not {*old} & {*(NUMBERS if of == "dossier" else KINDS if of == "hunt" else ())}


def texts(nodes: Iterable[ast.expr | None]) -> set[str]:
    """The texts among expressions."""
    return {str(one.value) for one in nodes if isinstance(one, ast.Constant)}


def groups(tree: ast.AST) -> Iterator[set[str]]:
    """The texts of each call, of each row of a table, and of each pair of a mapping."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield texts(node.args)
        elif isinstance(node, ast.Dict):
            yield from (texts(pair) for pair in zip(node.keys, node.values, strict=True))
            yield texts(node.values)
        elif isinstance(node, ast.Tuple | ast.List):
            yield from (texts(row.elts) for row in node.elts if isinstance(row, ast.Tuple | ast.List))


def test_no_other_module_says_a_metric_with_its_unit() -> None:
    """Studies have columns of their own: what is over trials, such as the mean of the medians."""
    own = {PRODUCT / "judging" / name for name in ("measures.py", "derived.py")}
    units = {key: one.unit for one in NAMED.values() for key in (one.name, one.column) if key and one.unit}
    assert [*groups(ast.parse('TABLE = (("rate", "mean_rate_bps", "bps"),)'))] == [
        {"rate", "mean_rate_bps", "bps"}
    ]
    for file in PRODUCT.rglob("*.py"):
        if file in own or PRODUCT / "experiments" / "studies" in file.parents:
            continue
        for words in groups(ast.parse(file.read_text(encoding="utf-8"))):
            assert not [word for word in words if units.get(word) in words - {word}], (file, words)
