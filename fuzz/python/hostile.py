"""Values that often break programs: texts, numbers, and shapes."""

from __future__ import annotations

import math
import random
from typing import Any

TEXTS = (
    "",
    " ",
    "x",
    "\x00",
    "\x1b[31m\r\n",
    "\ud800",
    "../outside",
    "..",
    ".",
    ".partial",
    "/etc/passwd",
    "experiment.json",
    "report.html",
    "a/b",
    "[x]*?",
    "-rf",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "-->]]><svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></title></pre></code><iframe src=//x>",
    "{{ 7 * 7 }}{% raw %}&lt;b&gt;\\u003c",
    "datum['x'].y\\.z",
    "\u202e\u2028\ufeff",
    "\U0001f4a9" * 40,
    "long " * 4000,
    "completion",
    "NaN",
    "1e999",
)
NUMBERS = (0, -1, 1, 0.5, -0.0, 1e-320, 1e308, -1e308, math.nan, math.inf, 2**31, 2**53 + 1, 2**63, 2**64 - 1)
SHAPES: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"a": 1}, [None] * 3, 10**400, {"": {"": []}})


def value(chance: random.Random) -> Any:
    """Any of them."""
    return chance.choice([*TEXTS, *NUMBERS, *SHAPES])


def text(chance: random.Random) -> str:
    """A text that can be written, for places that accept only texts."""
    return chance.choice([text for text in TEXTS if text.isprintable() and text])


def finite(chance: random.Random) -> float:
    """A number that JSON can hold."""
    return chance.choice([number for number in NUMBERS if math.isfinite(number)])
