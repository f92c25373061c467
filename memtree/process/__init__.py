"""State of one process: bounded maps, bytes of its caches, CPU of its threads, traces of a
request."""
