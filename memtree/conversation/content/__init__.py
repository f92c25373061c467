"""Content of a message: its form, arguments of calls, blocks that clients rewrite."""
