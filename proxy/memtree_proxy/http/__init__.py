"""Parts that all routes share: bodies, headers, credentials, limits, and the record of each request."""
