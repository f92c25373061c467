"""Commands about a history: compress, index, audit, import, demo."""
