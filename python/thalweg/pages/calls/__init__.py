"""Figures of calls over many trials."""
