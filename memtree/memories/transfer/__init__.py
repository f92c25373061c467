"""Memories on their way out and in: exports, and imports of what other programs write."""
