"""The probe: round-trip and one-way delays of a real path, and what they say about it.

A client sends small UDP packets at a steady pace, a server returns them, four times are noted for each. The
analysis is made of functions on plain arrays: seconds, one entry per probe, nan for what did not come back.
"""
