"""Settings: parsing of values, checks, and the folder of a user's data. `config.py` lists them
all."""
