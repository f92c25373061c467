"""Import conversations of other programs as OpenAI messages: one file for each format.

Files of memories are imported by `memtree.transfer`.
"""
