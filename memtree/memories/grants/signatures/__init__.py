"""Wallets of two chains: their addresses, and whether a text was signed by one."""

NEEDS_EXTRA = (
    "Grants and wallets need packages that are not installed: "
    "pip install '.[agents]' in the folder of MemTree"
)
