"""Documents in namespaces: each is kept as passages, which are memories of the namespace."""
