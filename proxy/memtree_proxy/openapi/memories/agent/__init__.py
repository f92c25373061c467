"""Agents' memories in the document."""
