"""Pinned parts, which every memory message shows: standing rules, marked passages."""
