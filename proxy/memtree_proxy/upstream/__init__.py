"""The way to the upstream and back: the HTTP client, relaying, passing through."""
