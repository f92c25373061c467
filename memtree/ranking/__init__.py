"""Rank passages for a query: BM25, vectors, and their fusion by rank."""
