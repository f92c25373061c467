"""Hybrid search over the memories of one scope: words (BM25) and meaning (vectors), exact over the
rows that are stored."""
