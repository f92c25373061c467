"""The address of a PostgreSQL store, and the part of it that may be shown.

    postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=memtree&connections=8

`schema` (of the tables, created if it does not exist) and `connections` (the most that one process
opens) are ours; all other options are libpq's, such as `connect_timeout`, `sslmode` and `host`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memtree.errors import BadRequest

SCHEMA = "memtree"
CONNECTIONS = 8
CONNECT_SECONDS = 1.5  # a chat request waits this long, once, before it continues without memory
KEEPALIVE = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",  # milliseconds
}
_PORTS = re.compile(r"[0-9,]*")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Dsn:
    """`conninfo` may hold a password; `shown` does not, and is used in messages."""

    conninfo: str
    shown: str
    schema: str = SCHEMA
    connections: int = CONNECTIONS
    seconds: float = CONNECT_SECONDS

    def __repr__(self) -> str:
        return f"Dsn({self.shown})"


def read_dsn(url: str, shown: str) -> Dsn:
    """Parse an address. `shown`: the address without its secrets. Raises `BadRequest` for a URL
    that libpq would not understand; the error repeats nothing of it."""
    base, _, query = url.partition("?")
    try:
        if "@" in base.partition("://")[2].partition("/")[2]:
            raise ValueError  # a `/` in the password ends it for libpq
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        schema = given.pop("schema", SCHEMA)
        connections = int(given.pop("connections", CONNECTIONS))
        parts = conninfo_to_dict(f"{base}?{urlencode(given)}" if given else base)
        seconds = float(parts.pop("connect_timeout", CONNECT_SECONDS) or CONNECT_SECONDS)
        if not _PORTS.fullmatch(str(parts.get("port", ""))):
            raise ValueError
    except (ProgrammingError, ValueError):
        # libpq's own message may repeat a part of the password that was not percent-encoded.
        raise _refused(
            "cannot be read; write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
            "with special characters of the password as %XX"
        ) from None
    if not _NAME.fullmatch(schema):
        raise _refused("names a schema that is not lower-case letters, digits and _")
    if not (0 < connections <= 1000 and 0 < seconds < 3600):
        raise _refused("has a number out of range: connections 1-1000, connect_timeout 1-3600")
    wanted = {"application_name": "memtree", **KEEPALIVE, **parts}
    return Dsn(make_conninfo("", **wanted), shown, schema, connections, seconds)


def _refused(what: str) -> BadRequest:
    return BadRequest(f"store: the address postgresql:... {what}.", param="store")
