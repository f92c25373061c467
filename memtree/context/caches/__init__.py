"""Caches of a process between requests: warm conversations, records of histories."""
