"""The memory tools for any MCP client: over streamable HTTP at `/mcp`, and over standard streams.

Only `sdk_*` and `stdio` import the SDK, which costs 0.7 s and 39 MiB: they are loaded with the
first call. What this room does not do: decide what is a duplicate, a secret or an instruction.
"""
