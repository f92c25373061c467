"""Commands about a store: keys, tenants, reports, copies."""
