"""Conversations read for an agent's memories."""
