"""What of a user's message is worth remembering, found by rules: no model, values in, values
out."""
