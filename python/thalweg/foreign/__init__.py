"""Files of other programs that show one connection: what they say, what limited it, its path, its controller."""
