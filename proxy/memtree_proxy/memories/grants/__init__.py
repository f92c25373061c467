"""Grants and wallets over HTTP."""
