"""`SqliteStore`: a store in one file. The default; nothing to install.

Reads and writes have a thread and a connection each, so neither blocks the event loop. Any number
of processes may use the file. Does not hold message text or credentials.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from memtree.stores.context.store import SqlStore
from memtree.stores.sqlite.database import BUSY_TIMEOUT, SqliteDatabase


class SqliteStore(SqlStore):
    database: SqliteDatabase

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = BUSY_TIMEOUT,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(SqliteDatabase(path, busy_timeout), now)
