"""Store user memories, beyond saving, reading and deleting."""
