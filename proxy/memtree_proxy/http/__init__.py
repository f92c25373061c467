"""HTTP without routes: request bodies, JSON bodies, content encodings, headers, error responses."""
