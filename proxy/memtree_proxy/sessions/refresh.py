"""Update the index of past sessions: terms of a session, and vectors of its passages.

A session that grew is read again completely, since its agent may have removed messages; known
passages keep their vectors, by their digests.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtree.errors import BadRequest
from memtree.ports.models import Embedder
from memtree.ranking.vectors import pack
from memtree_proxy.sessions.index import (
    EMBEDDED,
    WANTED,
    WORDS,
    IndexedSession,
    SessionIndex,
    packed,
)
from memtree_proxy.sessions.passages import SessionPassage, passages
from memtree_proxy.sessions.transcripts import ReadTranscript, Transcript, read

BATCH = 64  # passages embedded between two checks of the time


class ReadSession(NamedTuple):
    """A transcript in its present state, with its passages."""

    transcript: ReadTranscript
    passages: list[SessionPassage]


def read_session(transcript: Transcript) -> ReadSession | None:
    """Read a session; None if it has no messages. Raises `BadRequest` as `transcripts.read`
    does."""
    readable = read(transcript)
    return (
        None
        if readable is None
        else ReadSession(readable, passages(readable.conversation.messages))
    )


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
