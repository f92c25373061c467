"""Save memories: duplicates are found, vectors follow, watchers are told."""
