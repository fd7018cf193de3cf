"""The study `hunt`: see `study.py`."""
