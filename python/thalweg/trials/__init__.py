"""Where trials run: executors, by the protocol of `base/executor.py`.

threads.py     threads of this process
processes.py   processes of this machine, for controllers in Python
machine.py     both, as a scenario needs them: the default
cluster.py     workers of Dask
gathering.py   all outcomes of each scenario together: what suites, studies and `trials()` ask for
store/         trials that were played before, and an executor that plays only what is missing
"""
