"""Extraction of memories from what users say."""
