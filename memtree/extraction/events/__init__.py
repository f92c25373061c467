"""What an agent did, read from its tool calls, their results, and edits written in prose."""
