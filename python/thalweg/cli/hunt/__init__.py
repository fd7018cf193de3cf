"""`thalweg hunt` and `thalweg tune`: searches for the worst scenario, and for the best options."""
