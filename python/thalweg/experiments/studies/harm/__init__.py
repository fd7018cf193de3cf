"""The study `harm`: the effect of a competitor on short flows."""
