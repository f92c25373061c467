"""Serve user memories over HTTP: memories of a user across chats."""
