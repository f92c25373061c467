"""Shadow mode: measure what memory would have kept, without changing what is sent."""
