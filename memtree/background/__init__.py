"""A process that keeps memory: the work behind its answers, and its parts put together."""
