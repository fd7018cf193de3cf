"""Experiments on statements that papers and blogs leave without numbers, a module for each page."""
