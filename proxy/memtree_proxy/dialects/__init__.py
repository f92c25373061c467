"""Answers in the dialects of three APIs: their streams, errors, and rounds of our tools in them.

How requests are read stands in `memtree.dialects`.
"""
