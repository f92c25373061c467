"""Find what stands in a user's message and is not the user speaking."""
