"""Quantiles, means, rates and differences of trials with their intervals, and answers to claims.

Verdicts, comparisons and studies share these functions. All take plain arrays; a trial that did not finish is
infinite. What the intervals promise, and how often they keep it, is measured in docs/explanation/statistics.md.
"""
