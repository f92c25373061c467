"""Measure MemTree on real conversations: recall, speed, and its promises on every answer."""
