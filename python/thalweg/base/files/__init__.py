"""Files that are there whole or not at all.

folder.py         a folder whose older result stays until the new one is whole
whole_file.py     a file that is there whole or not at all
regular_file.py   which files that users name are read
"""
