"""Who may come in, and how often: credentials, tenants, rate limits."""
