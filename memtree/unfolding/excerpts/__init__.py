"""Excerpts: which passages a memory message quotes."""
