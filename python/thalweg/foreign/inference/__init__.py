"""What follows from a view: limits, cuts of the window, the path, the controller."""
