"""Single items of a posted history."""
