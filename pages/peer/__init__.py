"""How our trials agree with the peer's, and why not where they do not."""
