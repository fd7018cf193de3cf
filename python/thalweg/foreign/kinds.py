"""Which names are files of other programs, and not scenarios."""

from __future__ import annotations

from pathlib import Path

_ENDINGS = (".qlog", ".sqlog", ".pcap", ".pcapng", ".cap", ".json", ".jsonl", ".parquet", ".csv", ".gz", ".log")


def is_foreign(name: str) -> bool:
    """Whether a text names a file that a reader here is for, and not a scenario."""
    path = Path(name)
    return path.suffix.lower() in _ENDINGS or (path.is_file() and path.suffix.lower() != ".toml")
