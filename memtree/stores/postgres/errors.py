"""Translate PostgreSQL's errors into the store's, with advice for the operator. None contains a
password: messages of the server and of libpq about a failed connection name host, port, user and
database only."""

from __future__ import annotations

import psycopg

from memtree.errors import MemTreeError, StoreCorrupt, StoreUnavailable

# By SQLSTATE, or by its class (two characters).
_WORDS = {
    "08": "lost the connection",
    "25006": "is read-only; name the primary server, not a standby",
    "28": "does not let this user in; see user and password",
    "3D000": "has no such database; create it",
    "3F000": "has no such schema; restart to create it",
    "40": "was busy with other writers; try again",
    "42501": "may not be used by this user; grant it the schema, or CREATE on the database",
    "42P01": "has lost its tables; restart to create them",
    "53100": "cannot grow: the disk is full; make room",
    "53300": "has no connection left; raise its max_connections or lower `connections`",
    "55P03": "is locked by another transaction",
    "57014": "took too long for a statement",
    "57P": "was stopped or restarted",
    "58": "cannot be read or written; see its disk and its log",
}
_CORRUPT = ("XX001", "XX002")  # codes for damaged tables and indexes
GONE = ("42P01", "3F000")  # the schema is missing: it may be created again
LOST = "The connection to the store {} was lost ({})."


def fault(error: psycopg.Error, shown: str) -> MemTreeError:
    """Make a `StoreUnavailable` or `StoreCorrupt` that says what the operator can do."""
    state = error.sqlstate or ""
    said = _said(error)
    if state in _CORRUPT:
        return StoreCorrupt(f"The store {shown} is damaged ({said}); restore it from a backup.")
    for length in (5, 3, 2):
        if words := _WORDS.get(state[:length]):
            return StoreUnavailable(f"The store {shown} {words} ({said}).")
    if not state and isinstance(error, psycopg.OperationalError):
        return StoreUnavailable(LOST.format(shown, said))
    return StoreUnavailable(f"The store {shown} failed ({type(error).__name__}: {said}).")


def unreachable(error: Exception, shown: str) -> StoreUnavailable:
    """Make the error of an attempt to connect."""
    said = _said(error) if isinstance(error, psycopg.Error) else "no answer in time"
    return StoreUnavailable(f"The store {shown} cannot be reached ({said}).")


def answered(error: Exception) -> bool:
    """Return True if a failed attempt to connect was answered by a server, so that one is
    running."""
    return isinstance(error, psycopg.Error) and ("FATAL:" in str(error) or bool(error.sqlstate))


def _said(error: psycopg.Error) -> str:
    """Return the first line of the error: further lines may quote a row."""
    primary = error.diag.message_primary
    return (primary or str(error) or type(error).__name__).strip().splitlines()[0].rstrip(".")
