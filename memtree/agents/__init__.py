"""Memories of agents: schemas, grants, search modes, extraction.

Nothing in `memtree.memories` knows of them.
"""
