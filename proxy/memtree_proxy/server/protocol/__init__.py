"""HTTP as the server speaks it to clients: heads, bodies, hang-ups."""
