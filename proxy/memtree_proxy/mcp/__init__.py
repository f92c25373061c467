"""Serve the memory tools to MCP clients: over streamable HTTP at `/mcp`, and over standard streams.

Only `sdk_*` and `stdio` import the SDK, which costs 0.7 s and 39 MiB; they are loaded at the first
call. Duplicates, secrets and instructions are detected elsewhere.
"""
