"""Vectors of texts kept in a file between runs, since embedding takes most of a benchmark's time.

Several processes may use one file: each text is a row of its own, by a hash of recipe and text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memtree.ports.models import Embedder

Matrix = NDArray[np.float32]
BATCH = 400  # texts in one query


class KeptVectors:
    """Puts a file before the methods of an embedder. `path`: None for memory alone."""

    def __init__(self, embedder: Embedder, path: Path | None) -> None:
        self._embedder = embedder
        self.embedded: list[str] = []  # all texts that were asked for, but queries
        self._embed, self._embed_query = embedder.embed, embedder.embed_query
        self._file = sqlite3.connect(path or ":memory:", timeout=60, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (name BLOB PRIMARY KEY, row BLOB)")
        embedder.embed = self.embed  # type: ignore[method-assign]
        embedder.embed_query = self.embed_query  # type: ignore[method-assign]
        embedder.embed_queries = self.embed_queries  # type: ignore[method-assign]

    async def embed(self, texts: Sequence[str]) -> Matrix:
        names = [self._name("", text) for text in texts]
        known = self._known(names)
        new = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        waiting = list(new)
        for at in range(0, len(waiting), BATCH):  # one by one, so that a run that ends loses little
            some = waiting[at : at + BATCH]
            made = await self._embed([new[name] for name in some])
            known |= self._put(dict(zip(some, made, strict=True)))
        self.embedded += texts
        rows = [known[name] for name in names]
        return np.array(rows, np.float32).reshape(len(rows), self._embedder.dimensions)

    async def embed_query(self, text: str) -> Matrix:
        name = self._name("query", text)
        known = self._known([name])
        if name not in known:
            known = self._put({name: await self._embed_query(text)})
        return known[name]

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return np.array([await self.embed_query(text) for text in texts], np.float32)

    def close(self) -> None:
        self._file.close()

    def _name(self, kind: str, text: str) -> bytes:
        key = "\0".join([self._embedder.recipe, kind, text])
        return sha256(key.encode("utf-8", "surrogatepass")).digest()

    def _known(self, names: Sequence[bytes]) -> dict[bytes, Matrix]:
        rows: dict[bytes, Matrix] = {}
        for at in range(0, len(names), BATCH):
            some = names[at : at + BATCH]
            marks = ",".join("?" * len(some))
            asked = f"SELECT name, row FROM vectors WHERE name IN ({marks})"
            for name, row in self._file.execute(asked, some):
                rows[name] = np.frombuffer(row, np.float32)
        return rows

    def _put(self, rows: dict[bytes, Matrix]) -> dict[bytes, Matrix]:
        stored = [(name, row.astype(np.float32).tobytes()) for name, row in rows.items()]
        self._file.execute("BEGIN IMMEDIATE")
        self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", stored)
        self._file.execute("COMMIT")
        return rows
