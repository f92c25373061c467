"""Embedders: the local one, and any behind an OpenAI-compatible API."""
