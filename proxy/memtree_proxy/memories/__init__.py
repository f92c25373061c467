"""Memories over HTTP: routes of their dialects."""
