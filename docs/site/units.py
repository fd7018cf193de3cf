"""Numbers stay with their units: a line of the site is never broken between the two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_NUMBER = r"\d(?:[\d.,]*\d)?"
_UNIT = r"(?:%|[kMGT]?bps|[kMG]?B|[munµ]?s|min|h|packets|bdp|BDP|RTTs?)"
_QUANTITY = re.compile(rf"({_NUMBER}) (?={_UNIT}(?!\w))")
_INTERVAL = re.compile(r"\[[-+\d][^][]*\]|\([≤≥][^()]*\)")


def kept_together(text: str) -> str:
    r"""A text whose quantities and intervals have spaces at which no line is broken.

    >>> kept_together("after 4.5 s [4 s, 5 s], 2 streams").replace("\xa0", "~")
    'after 4.5~s [4~s,~5~s], 2 streams'
    """
    text = _QUANTITY.sub("\\1\xa0", text)
    return _INTERVAL.sub(lambda interval: interval[0].replace(" ", "\xa0"), text)


class Units(SphinxPostTransform):
    """Applies this to all words that are not code."""

    default_priority = 900

    def run(self, **_: object) -> None:
        """For Sphinx."""
        for text in list(self.document.findall(nodes.Text)):
            words = text.astext()
            code = (nodes.literal, nodes.literal_block, nodes.raw, nodes.comment)
            if not isinstance(text.parent, code) and (new := kept_together(words)) != words:
                text.parent.replace(text, nodes.Text(new))


def setup(app: Sphinx) -> dict[str, bool]:
    """For Sphinx."""
    app.add_post_transform(Units)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
