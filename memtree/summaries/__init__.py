"""Summaries by a model: prompts, reading the replies, and batching."""
