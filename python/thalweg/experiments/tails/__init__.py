"""How likely a rare trial is: subset simulation over the tapes of a scenario."""
