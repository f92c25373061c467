"""Grants: one tenant's agents may search another's, signed by wallets."""
