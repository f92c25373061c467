"""Tell how a new memory relates to a stored one: the same, a duplicate, a later version."""
