"""Dates in sentences: what they are, and the forms that they have in seven languages."""
