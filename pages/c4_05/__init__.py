"""The page docs/evidence/c4-05.md."""
