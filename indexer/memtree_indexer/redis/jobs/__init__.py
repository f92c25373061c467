"""Jobs in Redis: added, started, released, counted."""
