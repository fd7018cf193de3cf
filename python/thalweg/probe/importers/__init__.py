"""Files of other tools that measure paths, or describe them."""
