"""User memories in the store, besides saving, reading and deleting."""
