"""Caches of a process between requests: nodes, histories, rendered texts."""
