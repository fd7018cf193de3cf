"""Shared by all studies: the run from parameters to checks, printing and storing.

study.py           what a study is, and its run
parameters.py      parameters that are options of the command line as well
scenario_text.py   a scenario file out of keys and values
trials.py          the trials of a cell, and where they run
result.py          what a study yields, as every output has it
table.py           tables for people
store.py           what a study leaves in a folder; folder.py has the folder
"""
