"""The dossier of a controller for RFC 9743: what an evaluation has to show, as experiments."""
