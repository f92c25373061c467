"""Chat models that write summaries and extract memories, behind any compatible API."""
