"""The study `fairness`: who gets how much of a bottleneck."""
