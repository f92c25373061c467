"""Formats of other programs' files; each is a small pure reader."""
