"""Communication with the upstream: the HTTP client, relaying, passing through."""
