"""Unfold the tree into a text: which parts go into the memory message, and how they read.

`memtree.budget` says how many tokens it may have, `memtree.context` when it is made.
"""
