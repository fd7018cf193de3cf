"""What is stored, and comparisons of it.

suite_result.py   a suite in a folder
metadata.py       what a stored document may say
tables.py         what a stored table may hold
host.py           the machine that a result was made on
comparison        results next to the first of them
against           controllers of one result by rank
"""
