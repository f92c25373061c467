"""Which passages matter for a query: BM25, vectors, and their fusion by rank."""
