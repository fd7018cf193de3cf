"""What was measured in a sweep, drawn: the view of its points, the figures, and the page."""
