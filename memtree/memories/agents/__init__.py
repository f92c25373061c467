"""Memories of agents: structured, in scopes of an agent and whom it remembers something of."""
