"""Wire dialects: translators between a provider's JSON and the proxy's own values. They hold no
logic."""
