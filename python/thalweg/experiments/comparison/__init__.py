"""Stored experiments side by side, by the values of their trials.

stored.py   studies and scores, and how trials are compared
sweep.py    a sweep, as the same
"""
