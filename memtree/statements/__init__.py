"""Statements of users about themselves: what a sentence says, of which day, and if it may be kept.

`memtree.memories` makes memories of them.
"""
