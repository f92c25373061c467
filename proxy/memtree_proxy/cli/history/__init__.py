"""Commands for a history: compress, index, import, demo."""
