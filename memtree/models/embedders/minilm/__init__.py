"""all-MiniLM-L6-v2 from installed packages: read its weights, rebuild it with int8 arithmetic, run
it."""
