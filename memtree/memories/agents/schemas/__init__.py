"""Schemas of structured memories: which kinds there are, and what their data must look like."""
