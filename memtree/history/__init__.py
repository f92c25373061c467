"""Read what a client posted: messages, their addresses, days, attachments, and the bytes of JSON."""
