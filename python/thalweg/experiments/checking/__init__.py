"""Whether a controller in Python keeps to what every controller must: on random paths, and on random events."""
