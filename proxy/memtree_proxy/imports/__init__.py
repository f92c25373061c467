"""Import conversations of other programs as OpenAI messages; each format has a small pure
reader."""
