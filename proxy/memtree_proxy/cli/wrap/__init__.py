"""`memtree wrap`: starts a coding agent in front of a server of its own."""
