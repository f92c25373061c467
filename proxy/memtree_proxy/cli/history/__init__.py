"""Commands for a history: compress, index, audit, import, demo."""
