"""The study `slow-start`: see `study.py`."""
