"""Wire dialects: translators between JSON of a provider and our values. They hold no logic."""
