"""Serve agents' memories over HTTP: structured by kind, scoped by agent and subject."""
