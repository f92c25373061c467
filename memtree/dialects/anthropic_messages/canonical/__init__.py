"""Translate requests of the Messages API into the canonical form."""
