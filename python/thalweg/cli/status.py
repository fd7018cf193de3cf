"""Exit statuses."""

PASSED = 0
"""Every verdict passes, or cannot."""
FAILED = 1
"""A verdict fails, or a replayed trial differs."""
REFUSED = 2
"""The request is wrong."""
DEFECT = 70
"""Thalweg itself went wrong (EX_SOFTWARE of sysexits.h): not to be taken for a verdict."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""
