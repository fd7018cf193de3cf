"""Files of other programs in the folder of the lab: logs, captures, and what `thalweg explain` says about one.

A file is read as the command does it. Its scenario opens as the trial of a stored result would: the page plays it,
and says whether the hash is the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_ENDINGS = (".qlog", ".sqlog", ".pcap", ".pcapng", ".cap")
_PACKED = ".gz"
_IPERF3 = b'"start":'
"""The first key of a report of iperf3, whose files end as any JSON does."""
_HEAD = 64


def is_listed(entry: os.DirEntry[str]) -> bool:
    """Whether this is a file that can be explained, by its name or, for JSON, its first bytes."""
    if not entry.is_file(follow_symlinks=False):
        return False
    name = entry.name.lower()
    if name.removesuffix(_PACKED).endswith(_ENDINGS):
        return True
    if not name.endswith(".json"):
        return False
    try:
        with Path(entry.path).open("rb") as file:
            return _IPERF3 in file.read(_HEAD)
    except OSError:
        return False


def explained(file: Path) -> dict[str, Any]:
    """What a file says, as the page opens it. Raises RequestError."""
    from thalweg.experiments.explain import account_of_file, opened  # noqa: PLC0415 - readers take a second to load

    return opened(account_of_file(file), file.name)
