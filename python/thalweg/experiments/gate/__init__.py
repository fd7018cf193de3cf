"""The gate: a stack against the baseline that its repository holds, or before against now in real time.

`scenarios` reads a suite and plays it; `baseline` is the file, `reading` refuses damaged ones, `fit` baselines of
something else, and `judgement` says what became worse. `live` plays pairs in real time, and `pairs` says which
metrics they compare.
"""
