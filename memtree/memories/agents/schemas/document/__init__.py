"""The document of a schema: its text, its sub-schemas, its limits, and how it is compiled."""
