"""What a user has beside the memories: groups, settings, categories of their own."""
