"""The study `harm`: what a competitor does to short flows that come and go."""
