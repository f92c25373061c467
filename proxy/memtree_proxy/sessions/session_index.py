"""Index of past sessions: one SQLite file without any text.

A row is a session: a hash of its location, its size and time, and for each passage hashes of its
terms, a digest, and a vector if it is searched by meaning. All hashes are keyed with a secret of
this index, so they cannot be compared with those of another one. A reader of the file who guesses a
word can still find out that it was said, and from vectors roughly in which context: the file is
readable by its owner only, and `forget` removes it.

It is a cache of the transcripts: a damaged index or one of another version is rebuilt.

`refresh` reads a session that grew again completely, since its agent may have removed messages;
known passages keep their vectors, by their digests.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtree.errors import BadRequest
from memtree.ports.models import Embedder
from memtree.ranking.vectors import pack
from memtree.text import terms
from memtree.text.terms import Terms
from memtree_proxy.sessions.session_passages import SessionPassage, passages
from memtree_proxy.sessions.transcripts import ReadTranscript, Transcript, read

FILE = "sessions.db"
VERSION = 2
DIGEST_BYTES = 8
BUSY_SECONDS = 10.0
# State of a passage: words only, vector missing, vector present.
WORDS, WANTED, EMBEDDED = 0, 1, 2
_SCHEMA = """
CREATE TABLE secret (value BLOB NOT NULL);
CREATE TABLE sessions (
  id BLOB PRIMARY KEY, size INTEGER, time INTEGER, recipe TEXT, projects BLOB, kinds BLOB,
  digests BLOB, hashes BLOB, counts BLOB, ends BLOB, vectors BLOB
) WITHOUT ROWID;
"""
Vectors = NDArray[np.int8]
BATCH = 64  # passages embedded between two checks of the time


class IndexedSession(NamedTuple):
    """`id`: a keyed hash of the session's location. `projects`: hashes of its folder, and of those
    above. `kinds`: a byte for each passage. `digests`: `DIGEST_BYTES` for each. `vectors`: int8 (n,
    d), a row for each passage that is not of kind `WORDS`."""

    id: bytes
    stamp: tuple[int, int]
    recipe: str
    projects: bytes
    kinds: bytes
    digests: bytes
    terms: Terms
    vectors: bytes

    @property
    def meant(self) -> list[int]:
        """Return the passages that have a vector, or need one."""
        return [at for at, kind in enumerate(self.kinds) if kind != WORDS]

    def digest(self, row: int) -> bytes:
        return self.digests[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES]

    def is_about(self, projects: Collection[bytes]) -> bool:
        starts = range(0, len(self.projects), DIGEST_BYTES)
        return any(self.projects[at : at + DIGEST_BYTES] in projects for at in starts)


class Hashes:
    """Keyed hashes of texts, which cannot be compared with those of another index."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._terms: dict[int, int] = {}

    def digest(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, key=self._secret, digest_size=DIGEST_BYTES).digest()

    def folder(self, path: str) -> bytes:
        return self.digest(f"folder\n{path}")

    def folders(self, path: str) -> bytes:
        """Return hashes of a folder and of those above it, without the root."""
        pure = PurePath(path)
        above = [each for each in (pure, *pure.parents) if each.name] if path else []
        return b"".join(self.folder(str(each)) for each in above[:64])

    def passage(self, passage: SessionPassage) -> bytes:
        return self.digest(f"{passage.role}\n{passage.text}")

    def counts(self, text: str) -> dict[int, int]:
        """Return hashed terms of a text, with their counts."""
        return {self._term(term): count for term, count in terms.terms(text).items()}

    def _term(self, term: int) -> int:
        known = self._terms.get(term)
        if known is None:
            made = blake2b(term.to_bytes(4, "little"), key=self._secret, digest_size=4).digest()
            known = self._terms[term] = int.from_bytes(made, "little")
        return known


class SessionIndex:
    """An open index. Every method raises `sqlite3.Error` if the file does not work."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.keys = Hashes(db.execute("SELECT value FROM secret").fetchone()[0])

    def id(self, transcript: Transcript) -> bytes:
        return self.keys.digest(transcript.key) + self.keys.digest(f"\n{transcript.key}")

    def stamps(self) -> dict[bytes, tuple[int, int]]:
        """Return size and time of each session when it was read."""
        rows = self._db.execute("SELECT id, size, time FROM sessions")
        return {id_: (size, time) for id_, size, time in rows}

    def unembedded(self, recipe: str) -> set[bytes]:
        """Return the sessions that lack vectors by this recipe."""
        query = (
            "SELECT id FROM sessions WHERE instr(kinds, x'01') OR (recipe != ? AND kinds != x'')"
        )
        return {id_ for (id_,) in self._db.execute(query, (recipe,))}

    def keep(self, ids: Collection[bytes]) -> None:
        """Drop all sessions except these."""
        gone = [(id_,) for id_ in self.stamps() if id_ not in ids]
        if gone:
            with self._db:
                self._db.executemany("DELETE FROM sessions WHERE id = ?", gone)

    def session(self, id_: bytes) -> IndexedSession | None:
        row = self._db.execute("SELECT * FROM sessions WHERE id = ?", (id_,)).fetchone()
        return None if row is None else _session(row)

    def sessions(self) -> Iterator[IndexedSession]:
        return map(_session, self._db.execute("SELECT * FROM sessions"))

    def put(self, session: IndexedSession) -> None:
        ends = np.array(session.terms.ends, "<u4").tobytes()
        row = (session.id, *session.stamp, session.recipe, session.projects, session.kinds,
               session.digests, session.terms.hashes, session.terms.counts, ends,
               session.vectors)  # fmt: skip
        with self._db:
            marks = ",".join("?" * len(row))
            self._db.execute(f"INSERT OR REPLACE INTO sessions VALUES ({marks})", row)


def _session(row: Sequence[bytes]) -> IndexedSession:
    id_, size, time, recipe, projects, kinds, digests, hashes, counts, ends, vectors = row
    packed = Terms(hashes, counts, tuple(np.frombuffer(ends, "<u4").tolist()))
    return IndexedSession(
        id_, (int(size), int(time)), str(recipe), projects, kinds, digests, packed, vectors
    )


def packed(keys: Hashes, passages: Sequence[SessionPassage]) -> tuple[bytes, bytes, Terms]:
    """Return kinds, digests and terms of passages, packed."""
    kinds = bytes(WANTED if each.meant else WORDS for each in passages)
    digests = b"".join(map(keys.passage, passages))
    return kinds, digests, terms.pack(keys.counts(each.text) for each in passages)


@contextmanager
def open_index(folder: Path) -> Iterator[SessionIndex]:
    """Open the index in a data folder, creating it if necessary. Raises `OSError` or
    `sqlite3.Error`."""
    path = folder / FILE
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        opened = _opened(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or disk full
            raise
        forget(folder)
        opened = _opened(path)
    with closing(opened) as db:
        yield SessionIndex(db)


def forget(folder: Path) -> int:
    """Remove the index; returns its size in bytes, 0 if there was none. Raises `OSError`."""
    size = 0
    for name in (FILE, f"{FILE}-journal", f"{FILE}-wal", f"{FILE}-shm"):
        path = folder / name
        if path.exists() or path.is_symlink():
            size += path.lstat().st_size
            path.unlink()
    return size


def _opened(path: Path) -> sqlite3.Connection:
    # Readable by its owner only; SQLite gives its journal the same mode.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        db.execute("PRAGMA secure_delete = ON")
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            db.execute("PRAGMA auto_vacuum = FULL")
            db.executescript(
                f"BEGIN IMMEDIATE; DROP TABLE IF EXISTS secret; DROP TABLE IF EXISTS sessions; "
                f"{_SCHEMA} INSERT INTO secret VALUES (x'{secrets.token_hex(32)}'); "
                f"PRAGMA user_version = {VERSION}; COMMIT"
            )
    except BaseException:
        db.close()
        raise
    return db


class ReadSession(NamedTuple):
    """A transcript in its present state, with its passages."""

    transcript: ReadTranscript
    passages: list[SessionPassage]


def read_session(transcript: Transcript) -> ReadSession | None:
    """Read a session; None if it has no messages. Raises `BadRequest` as `transcripts.read`
    does."""
    readable = read(transcript)
    if readable is None:
        return None
    return ReadSession(readable, passages(readable.conversation.messages))


def index_words(index: SessionIndex, transcript: Transcript) -> str:
    """Index a session by its words. Returns why it cannot be read, "" on success: an unreadable one
    is not tried again before it changes."""
    trouble, pieces, project = "", [], ""
    try:
        said = read_session(transcript)
        if said is not None:
            pieces, project = said.passages, said.transcript.project
    except BadRequest as error:
        trouble = error.message
    kinds, digests, terms = packed(index.keys, pieces)
    id_, folders = index.id(transcript), index.keys.folders(project)
    new = IndexedSession(id_, transcript.stamp, "", folders, kinds, digests, terms, b"")
    old = index.session(id_)
    index.put(_with_vectors(new, old) if old else new)
    return trouble


def _with_vectors(new: IndexedSession, old: IndexedSession) -> IndexedSession:
    """Return the session with vectors of the old version for equal passages."""
    meant = old.meant
    if not old.vectors:
        return new
    width = len(old.vectors) // len(meant)
    known = {
        old.digest(at): old.vectors[place * width : (place + 1) * width]
        for place, at in enumerate(meant)
        if old.kinds[at] == EMBEDDED
    }
    kinds, rows = bytearray(new.kinds), []
    for at in new.meant:
        row = known.get(new.digest(at))
        rows.append(row or bytes(width))
        kinds[at] = EMBEDDED if row else WANTED
    return new._replace(recipe=old.recipe, kinds=bytes(kinds), vectors=b"".join(rows))


async def index_meaning(
    index: SessionIndex, transcript: Transcript, embedder: Embedder, until: float
) -> None:
    """Make the vectors that a session lacks, until a time of the monotonic clock. Raises
    `EmbedderUnavailable`."""
    session = await asyncio.to_thread(index.session, index.id(transcript))
    try:
        said = await asyncio.to_thread(read_session, transcript)
    except BadRequest:  # removed meanwhile
        return
    if session is None or said is None:
        return
    if (await asyncio.to_thread(packed, index.keys, said.passages))[1] != session.digests:
        return  # changed meanwhile
    meant = session.meant
    kinds, rows = _vectors(session, embedder.recipe, embedder.dimensions)
    todo = [place for place, at in enumerate(meant) if kinds[at] == WANTED]
    while todo and time.monotonic() < until:
        batch, todo = todo[:BATCH], todo[BATCH:]
        made = await embedder.embed([said.passages[meant[place]].text for place in batch])
        rows[batch] = np.frombuffer(pack(made, [1] * len(made)), np.int8).reshape(made.shape)
        for place in batch:
            kinds[meant[place]] = EMBEDDED
    done = session._replace(recipe=embedder.recipe, kinds=bytes(kinds), vectors=rows.tobytes())
    await asyncio.to_thread(index.put, done)


def _vectors(
    session: IndexedSession, recipe: str, width: int
) -> tuple[bytearray, NDArray[np.int8]]:
    """Return kinds and vectors of a session, as far as it has them by this recipe."""
    shape = len(session.meant), width
    if session.recipe == recipe and session.vectors:
        rows = np.frombuffer(session.vectors, np.int8).reshape(shape).copy()
        return bytearray(session.kinds), rows
    kinds = bytearray(WORDS if kind == WORDS else WANTED for kind in session.kinds)
    return kinds, np.zeros(shape, np.int8)
