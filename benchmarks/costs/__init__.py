"""Costs of sessions: tokens, prices, and what is sent turn by turn."""
