"""The page docs/c4-05.md."""
