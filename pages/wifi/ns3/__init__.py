"""Delays of access next to the delays of ns-3."""
