"""Recognise what an upstream refuses, learn from it, and send it once more as it can be taken."""
