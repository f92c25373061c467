"""Histories in the dialects of three APIs: read as canonical messages, and written back shorter.

How answers are written stands in `memtree_proxy.dialects`.
"""
