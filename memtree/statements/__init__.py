"""What a user states: sentences about themselves, rules and dates, read by rules."""
