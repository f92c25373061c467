"""Read the client's posted messages: validation, digests, addresses and sizes."""
