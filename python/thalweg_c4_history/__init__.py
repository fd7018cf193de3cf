"""C4 before its drafts, against others on bad Wi-Fi: a study outside of `thalweg`, which no wheel has."""
