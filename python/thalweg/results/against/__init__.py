"""Verdicts by comparison: where a controller stands among rivals in each scenario of a suite.

`measures` says what is compared and which end of it is better, `rivals` plays the main flow with others,
`place` has the answer of one scenario and metric, `standing` the answers of a suite, `table` puts them into words.
"""
