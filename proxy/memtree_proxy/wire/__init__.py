"""Fields that are posted and answered: each once, for decoding, answering and describing."""
