"""Conversations of other programs as OpenAI messages; each format is a small pure file."""
