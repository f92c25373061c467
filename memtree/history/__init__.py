"""Read what a client posted: messages, their addresses, days and attachments, and bytes of JSON."""
