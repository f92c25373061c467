"""State of one process: bounded maps, threads and their CPU, circuit breakers, traces."""
