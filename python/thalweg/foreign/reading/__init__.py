"""Readers of foreign files, each into one `View` for each connection and end."""

from thalweg.foreign.reading.read import read
from thalweg.foreign.reading.view import NONE, Steps, View

__all__ = ["NONE", "Steps", "View", "read"]
