"""The study `transient`: how controllers react to steps of capacity, round-trip time and flow arrival."""
