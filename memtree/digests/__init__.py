"""Summaries without a model: the clauses of a text that say most, and what calls of tools did."""
