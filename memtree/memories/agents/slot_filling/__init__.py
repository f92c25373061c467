"""Structured memories out of what users say, by rules: which fields a sentence fills."""
