"""Tables of memories: their columns, rows, counters and keys."""
