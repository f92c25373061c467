"""Commands for a store: keys, tenants, reports, copies."""
