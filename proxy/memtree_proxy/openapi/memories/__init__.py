"""What the document says of memories, one dialect after the other."""
