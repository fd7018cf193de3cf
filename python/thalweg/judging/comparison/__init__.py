"""Comparison of two results, number by number.

`sample` says what is compared, `row` has one number in both with what tells them apart, `failures` how often each
criterion fails in both, `worse` what of all these became worse, and `planning` how many trials a difference needs.
"""
