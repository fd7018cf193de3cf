"""The study `fairness`: shares of a bottleneck."""
