"""A controller that raises on long paths: such scenarios are finds too."""

FRAGILE = """
import thalweg
class Fragile(thalweg.Controller):
    def __init__(self, init):
        self.window = init.initial_window
    def on_ack(self, event, path):
        if path.smoothed_rtt > 0.15:
            raise ZeroDivisionError("too far")
"""
