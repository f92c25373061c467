"""What is posted to the Messages API, in the canonical form."""
