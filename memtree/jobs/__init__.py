"""Background work of a process that keeps memory, and the wiring of all its services.

Queues here are in memory; those in Redis, shared by processes, are in `memtree_indexer`.
"""
