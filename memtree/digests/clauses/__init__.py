"""Clauses of a text: where they begin and end, and how much each says."""
