"""Draw in a terminal: trees, bars, and text of others that cannot steer it."""
