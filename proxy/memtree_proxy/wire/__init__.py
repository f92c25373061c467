"""What is posted and what is answered: each field once, for decoding, answering and describing."""
