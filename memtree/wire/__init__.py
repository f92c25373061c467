"""Posted JSON as bytes with known spans: read on demand, written back without re-encoding."""
