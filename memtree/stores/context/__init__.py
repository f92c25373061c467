"""Context memory over SQL: each port's functions, its statements and its class in one file."""
