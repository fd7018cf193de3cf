"""The study `loopback`: throughput of controllers over 127.0.0.1."""
