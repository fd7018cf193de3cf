"""Scenarios, their trials and outcomes, traces, the catalogue, and controllers in Python."""
