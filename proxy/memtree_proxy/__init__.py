"""The HTTP edge: routes, credentials, wire shapes, and the way to the upstream."""
