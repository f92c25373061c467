"""Schemas of structured memories over HTTP."""
