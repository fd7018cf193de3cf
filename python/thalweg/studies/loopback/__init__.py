"""The study `loopback`: how fast controllers are over 127.0.0.1."""
