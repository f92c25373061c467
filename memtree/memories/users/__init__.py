"""Parts of a user's memories beside the texts: groups, settings, categories of their own."""
