"""Memories of a user as a file, and files as memories."""
