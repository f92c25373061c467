"""Memories in a chat: choosing those for its prompt, and tools with which its model saves some."""
