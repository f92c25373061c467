"""What agent memories, their schemas and their grants ask of a store, over SQL."""
