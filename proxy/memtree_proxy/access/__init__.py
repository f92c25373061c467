"""Authentication and limits: credentials, tenants, rate limits."""
