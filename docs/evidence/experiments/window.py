"""A constant congestion window, to see what a window does by itself."""

import thalweg


class Window(thalweg.Controller):
    """Always `size` bytes; the transport paces it."""

    def __init__(self, init, size: float = 50_000):
        if not size >= 2400:
            raise ValueError("size must be at least 2400, two packets")
        self.window = size

    def on_ack(self, event, path):
        """Nothing changes the window."""
