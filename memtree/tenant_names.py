"""Names of tenants that no credential stands for."""

ANONYMOUS = "anonymous"  # of requests without a credential that a proxy forwards from elsewhere
LOCAL = (
    "local"  # of this machine's user: the terminal, `memtree mcp`, requests without a credential
)
