"""`memtree wrap`: start a coding agent in front of a server of its own."""
