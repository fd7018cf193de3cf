"""What every study shares: its result, and the folder that it is stored in."""
