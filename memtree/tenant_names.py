"""Names of tenants that no credential stands for."""

ANONYMOUS = "anonymous"  # of requests without a credential
LOCAL = "local"  # of `memtree mcp` on standard input and output, and of files in the terminal
