"""The lab: a page on which scenarios are changed and seen, and the local server that runs their trials.

The page (`lab/` of the repository) is built into `page/`. As static files it runs the engine in the browser;
behind `thalweg lab` it asks this server, which adds the cores of the machine, the files of one folder, and
with `--python` controllers in Python.

Needs the packages of the extra `lab` (see `thalweg.base.extras`).
"""
