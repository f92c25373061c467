"""Statements of users: sentences about themselves, rules and dates, read by rules."""
