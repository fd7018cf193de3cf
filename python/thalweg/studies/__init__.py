"""Studies: experiments over many scenarios, each with a metric of its own.

One package for each study, and `runner` for what they share; `thalweg.cli.study` lists them.
"""
