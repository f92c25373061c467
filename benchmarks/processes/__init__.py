"""Real processes: one server, workers, the whole topology."""
