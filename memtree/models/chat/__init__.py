"""Chat models that write summaries and read memories, behind any compatible API."""
