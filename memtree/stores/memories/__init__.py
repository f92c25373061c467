"""Memories in SQL: the schema, the statements and their meaning, once for all back ends.

SQLite and PostgreSQL differ in how a statement is sent (`sql.Sql`), not in the rows: so every rule
about a memory's life is written here once, and a back end adds its connection, its locks and how it
clears deleted bytes from its files. The store in RAM is a SQLite database without a file.
"""
