"""What the client posted: messages, their validation, digests, addresses and sizes."""
