"""HTTP between clients and the server: request heads, bodies, disconnects."""
