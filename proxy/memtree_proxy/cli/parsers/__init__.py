"""Parse the arguments of `memtree`. Nothing here imports a command (docs/decisions)."""
