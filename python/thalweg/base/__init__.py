"""What every other room may use: errors, quantities, files, seeds, progress, and the protocol of executors."""
