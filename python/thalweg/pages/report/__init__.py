"""The report of a result: one HTML page that needs no network and can be mailed.

The page carries the drawing program once and every figure as data, so figures can be zoomed, follow the
light or dark preference of the reader, and be saved as pictures from their menu.
"""

from thalweg.pages.report.page import render, write_report

__all__ = ["render", "write_report"]
