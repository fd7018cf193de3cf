"""Two suites side by side: `suites` says what is compared, `judging.comparison` compares it.

`traded` has what a call paid in rate for being better, `tables` the table and the figure of `thalweg.compare`.
"""
