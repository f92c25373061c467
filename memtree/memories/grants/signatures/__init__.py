"""Wallets of two chains: their addresses, and whether a text was signed by one."""

from memtree.errors import needs_extra

NEEDS_EXTRA = needs_extra("a grant or wallet", "agents")
