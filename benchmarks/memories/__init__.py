"""Saved memories: search, injection, rules, speed."""
