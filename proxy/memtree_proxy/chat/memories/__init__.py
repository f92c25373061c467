"""Memories in a chat: which ones its prompt gets, and the tools by which its model saves some."""
