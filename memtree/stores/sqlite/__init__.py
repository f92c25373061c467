"""The store in a SQLite file (WAL): the default, for one machine."""
