"""Settings: forms of values, checks, and the folder of a user's data. `config.py` has them all."""
