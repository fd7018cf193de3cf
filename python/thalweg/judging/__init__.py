"""Judging: pass criteria, their statistics, and what comparisons measure."""
