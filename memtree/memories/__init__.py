"""Memories: facts, preferences and instructions that a model, a person or a program saves.

Beside context memory, not part of it: nothing here knows trees, budgets or epochs.
"""
