"""Choose the passages that a memory message quotes."""
