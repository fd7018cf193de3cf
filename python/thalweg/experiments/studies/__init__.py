"""Studies: experiments over many scenarios, each with its metric.

One package for each study, `runner` for what they share, and `catalogue.py` for the list of them.
"""
