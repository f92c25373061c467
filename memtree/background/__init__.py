"""A process that keeps memory: its background work, and the wiring of its parts."""
