"""Histories as the three APIs post them: read as canonical messages, and written back."""
