"""What is stored: results of suites, their folders, and what may be read back.

suite_result.py   a suite in a folder
metadata.py       what a stored document may say
seal.py           hashes of documents and files
tables.py         what a stored table may hold
host.py           the machine that a result was made on
"""
