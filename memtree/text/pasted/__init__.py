"""Find the parts of a user's message that are not the user's own words."""
