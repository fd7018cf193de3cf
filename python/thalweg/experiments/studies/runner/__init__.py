"""Shared by all studies: the run from parameters to checks, printing and storing.

study.py           what a study is, and its run
parameters.py      parameters that are options of the command line as well
trials.py          the trials of a cell, and where they run; estimate.py: how long they will take
result.py          what a study yields, as every output has it
table.py           the columns of its rows, and tables of them
folder.py          what a study leaves in a folder; page.py has its page
"""
