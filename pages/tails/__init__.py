"""The page on tails (docs/evidence/tails.md): what `thalweg tails` says, against what is known."""
