"""Trials that were played before, in a folder: what is there does not run again.

    trial_files.py   files of rows, each whole, with its hash in its name
    trial_store.py   which trials there are: by fingerprint of the scenario, seed and engine
    writer.py        rows that wait to be written, so that a killed run loses a hundredth at most
    shard.py         a share of an experiment
    outcome_store.py outcomes as text that loses nothing, requests and series included
    stored.py        an executor that plays only what an outcome store lacks
    merging.py       the trials of several stores in one

All experiments stand on it: suites, studies, scores and hunts with outcomes as text, sweeps with the numbers of a
trial as columns, which are read by the million.
"""
