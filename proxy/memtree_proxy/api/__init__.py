"""HTTP routes of context memory and of memories."""
