"""How our trials agree with those of the peer, and why not where they do not."""
