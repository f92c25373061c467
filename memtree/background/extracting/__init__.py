"""Memories out of the conversations that pass: read in the background, after the answer began."""
