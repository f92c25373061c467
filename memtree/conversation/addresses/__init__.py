"""Addresses of histories: digests of their messages, chained."""
