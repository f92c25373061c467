"""Read what an agent did from its tool calls, their results, and edits written in prose."""
