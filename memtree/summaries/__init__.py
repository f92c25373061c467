"""Summaries by a model: prompts, reading the replies, batching, cost, and the audit report."""
