"""Parse what can be typed after `memtree`. Nothing here imports a command: see docs/decisions."""
