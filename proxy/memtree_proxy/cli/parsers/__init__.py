"""Parse the arguments of `memtree`. Nothing here imports a command.

Why: docs/decisions/archive.md#0029.
"""
