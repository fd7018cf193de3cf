"""How far a number may lie beyond those of the standards, or beyond a bound of its own."""
