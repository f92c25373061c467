"""all-MiniLM-L6-v2 out of installed packages: read, put together as int8 arithmetic, and run."""
