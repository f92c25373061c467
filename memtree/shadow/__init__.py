"""Shadow mode: measures what memory would have kept, without changing what is sent."""
