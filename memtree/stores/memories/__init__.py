"""Memories in SQL: the schema, the statements and what they mean, once for all back ends.

SQLite and PostgreSQL differ in how a statement is sent (`sql.Sql`), not in what is stored: so every
rule about a memory's life stands here once, and a back end brings its connection, its locks and how
bytes leave its files. The store in RAM is a SQLite database without a file.
"""
