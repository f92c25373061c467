"""Content of a message: its form, arguments of calls, and blocks that clients rewrite."""
