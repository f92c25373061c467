"""Memories of agents over HTTP: structured, by kinds, in scopes of agents and their subjects."""
