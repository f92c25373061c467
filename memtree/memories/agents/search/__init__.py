"""Search over many scopes of agents at once."""
