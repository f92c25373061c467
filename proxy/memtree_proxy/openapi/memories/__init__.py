"""Describe memories in the document, one dialect after the other."""
