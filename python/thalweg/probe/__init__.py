"""The probe: round-trip and one-way delays of a real path, and their analysis.

A client sends small UDP packets at constant intervals, a server returns them, with four timestamps for each. The
analysis consists of functions on plain arrays: seconds, one entry per probe, NaN if lost.
"""
