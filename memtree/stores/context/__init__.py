"""What context memory keeps, over SQL: each port's functions and its class in one file."""
