"""Store agent memories, their schemas and their grants, over SQL."""
