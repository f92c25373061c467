"""What stands in a user's message and is not the user speaking."""
