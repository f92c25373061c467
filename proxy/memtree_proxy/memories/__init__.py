"""Serve memories over HTTP, in each of their dialects."""
