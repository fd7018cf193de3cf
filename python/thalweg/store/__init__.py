"""What is stored: results of suites, their folders, and what may be read back.

results.py        a suite in a folder
folder.py         a folder whose older result stays until the new one is whole
whole_file.py     a file that is there whole or not at all
metadata.py       what a stored document may say
seal.py           hashes of documents and files
tables.py         what a stored table may hold
regular_file.py   which files that users name are read
host.py           the machine that a result was made on
"""
