"""Commands and the trials that folders keep: `playing.py` runs what is missing, `merge.py` is `thalweg merge`."""
