"""The topology's database seen from outside: when what was stored in it, and what it says when its
disk is full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

# When each summary was first stored, whoever did it.
WATCH = """
CREATE TABLE public.stored (id bytea, version integer, at double precision);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.stored
  VALUES (NEW.id, NEW.version, extract(epoch FROM clock_timestamp()));
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT ON summaries FOR EACH ROW EXECUTE FUNCTION note();
"""
# What a server says whose disk is full, at every write that needs room.
FULL = """
CREATE FUNCTION full_() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
END $$;
"""
GROWING = ("nodes", "frontiers", "addresses", "vectors", "summaries", "epochs", "turns", "claims",
           "tallies", "tenants")  # fmt: skip


class Database:
    """Database that tests look at and change behind the back of proxies and workers."""

    def __init__(self, url: str) -> None:
        self.url = url

    def watch(self) -> None:
        """From now on, once the tables are there."""
        self._run(WATCH + FULL)

    def stored(self) -> dict[bytes, float]:
        """When (unix seconds) each node got its first summary by a model."""
        with psycopg.connect(self.url) as db:
            return dict(db.execute("SELECT id, min(at) FROM public.stored GROUP BY id").fetchall())

    @contextmanager
    def full(self) -> Iterator[None]:
        """While the block runs, nothing new can be written."""
        self._run(
            "".join(
                f"CREATE TRIGGER full_ BEFORE INSERT ON {one}"
                " FOR EACH ROW EXECUTE FUNCTION full_();"
                for one in GROWING
            )
        )
        try:
            yield
        finally:
            self._run("".join(f"DROP TRIGGER full_ ON {one};" for one in GROWING))

    def _run(self, statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("SET search_path TO memtree, public")
            db.execute(statements.encode())
