"""Memories in a prompt without anybody's asking: which ones, and how they read."""
