"""Delays of access next to those of ns-3."""
