"""The report on probes: its tables, figures and page."""
