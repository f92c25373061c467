"""Search the memories of one scope by words (BM25) and by meaning (vectors), over all rows."""
