"""The gate: a stack against the baseline that its repository holds.

`baseline` is that file, `reading` refuses damaged ones, `fit` those of something else, and `judgement` says what
became worse.
"""
