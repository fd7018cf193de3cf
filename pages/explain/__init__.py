"""What `thalweg explain` says of foreign files, held against the engine, which knows the truth."""
