"""Adapters to models: embedders turn text into vectors, summarisers turn leaves into summaries.

Nothing is imported here, so that a process pays only for the adapter it opens.
"""
