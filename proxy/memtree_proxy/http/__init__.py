"""Parts of all routes: bodies, headers, credentials, limits, and the record of each request."""
