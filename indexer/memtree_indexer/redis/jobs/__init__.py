"""Jobs in Redis: add, start, release and count them."""
