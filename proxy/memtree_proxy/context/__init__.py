"""Serve `/context_memory`: compression of histories, trees, the status, deletion."""
