"""Tools that the proxy itself offers to a model, and answers within one answer."""
