"""Studies: experiments over many scenarios, each with a metric of its own.

One module for each study; all speak the document of `thalweg.studies.result`.
"""

STUDIES = {"wifi-compete": "C4 before its drafts, against others on bad Wi-Fi (2025)"}
"""Name on the command line, and title."""
