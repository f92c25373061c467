"""Embedders: the local one, and remote ones with an OpenAI-compatible API."""
