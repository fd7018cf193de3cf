"""Which mechanism makes the delays of a series: simulated families, features, and the nearest draws."""
