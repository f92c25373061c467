"""Trees, plans and the conversations that they belong to, over SQL."""
