"""Figures, reports, and links from pages to the lab."""
