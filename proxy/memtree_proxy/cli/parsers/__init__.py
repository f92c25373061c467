"""What can be typed after `memtree`. Nothing here imports a command: see docs/decisions."""
