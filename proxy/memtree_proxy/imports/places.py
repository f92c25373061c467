"""Find conversations: in a file, a folder, a zip, or the database of a program.

This is the only file of the package that touches the disk. Every read is bounded: a file, in a zip
or not, by its size, a folder by its number of entries. Links to folders are not followed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import quote

from memtree.errors import BadRequest
from memtree_proxy.imports import tasks
from memtree_proxy.imports.conversation import fields
from memtree_proxy.imports.recognise import NoConversation, ParsedFile, parse

MAX_BYTES = 1 << 30  # of one file; the largest exports known are some 400 MB
MAX_ENTRIES = 200_000
SKIPPED = frozenset({".git", "node_modules", "subagents"})
DATABASES = frozenset({"opencode.db", "kilo.db"})
_SQLITE = b"SQLite format 3\x00"

Trouble = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file on disk. `held`: content of a file that can be read only once, such as a pipe."""

    path: Path
    name: str
    held: bytes | None = None

    @property
    def origin(self) -> str:
        return str(self.path.absolute())

    @property
    def id(self) -> str:
        is_task = self.path.name == tasks.HISTORY
        return self.path.absolute().parent.name if is_task else self.title

    @property
    def title(self) -> str:
        return self.path.name.removesuffix(".jsonl").removesuffix(".json").removesuffix(".messages")

    def load(self) -> ParsedFile:
        data = _bytes(self.path, self.name) if self.held is None else self.held
        return parse(data, self.name)

    def beside(self, name: str) -> Any:
        path = self.path.parent / name
        return _beside(lambda: _bytes(path, str(path)))


@dataclass(frozen=True, slots=True)
class ZipPlace:
    """A file in a zip."""

    path: Path
    member: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.member}"

    @property
    def origin(self) -> str:
        return f"{self.path.absolute()}:{self.member}"

    @property
    def id(self) -> str:
        inner = PurePosixPath(self.member)
        return inner.parent.name if inner.name == tasks.HISTORY else self.title

    @property
    def title(self) -> str:
        return PurePosixPath(self.member).name.removesuffix(".jsonl").removesuffix(".json")

    def load(self) -> ParsedFile:
        return parse(self._bytes(self.member), self.name)

    def beside(self, name: str) -> Any:
        return _beside(lambda: self._bytes(str(PurePosixPath(self.member).parent / name)))

    def _bytes(self, member: str) -> bytes:
        try:
            with zipfile.ZipFile(self.path) as archive:
                info = archive.getinfo(member)
                if info.flag_bits & 1:
                    raise BadRequest(f"{self.name}: is encrypted", param=self.name)
                with archive.open(info) as file:
                    # The size that the zip states may be false: count bytes while unpacking.
                    data = file.read(MAX_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise BadRequest(f"{self.name}: the zip is broken: {error}", param=self.name) from error
        except OSError as error:
            _unreadable(self.name, error)
        return _bounded(data, self.name)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """A session in the database of opencode or Kilo."""

    path: Path
    id: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.id}"

    @property
    def origin(self) -> str:
        return str(self.path.absolute())

    @property
    def title(self) -> str:
        return self.id

    def load(self) -> ParsedFile:
        return ParsedFile(_exported(self.path, self.id))

    def beside(self, name: str) -> Any:
        return None


AnyPlace = FilePlace | ZipPlace | SessionPlace


def places(given: str, trouble: Trouble) -> list[AnyPlace]:
    """Return the files under a path that may hold conversations. `trouble` is called with each that
    cannot be read.

    Raises `BadRequest` if the path itself cannot be read, or nothing is there.
    """
    path = Path(given)
    if given == "-":
        name = "standard input"
        return [FilePlace(path, name, _bounded(sys.stdin.buffer.read(MAX_BYTES + 1), name))]
    try:
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode):
            if stat.S_ISREG(mode):
                return _of_file(path)
            return [FilePlace(path, given, _bytes(path, given))]
        os.scandir(path).close()
    except OSError as error:
        _unreadable(given, error)
    all_places = [place for file in sorted(_walk(path, trouble)) for place in _tried(file, trouble)]
    if not all_places:
        raise BadRequest(f"{given}: no conversations in this folder", param=given)
    return all_places


def _tried(path: Path, trouble: Trouble) -> list[AnyPlace]:
    try:
        return _of_file(path)
    except NoConversation:
        return []
    except BadRequest as error:
        trouble(error.message)
    except OSError as error:
        trouble(f"{path}: {error.strerror}")
    return []


def _of_file(path: Path) -> list[AnyPlace]:
    with path.open("rb") as file:
        head = file.read(16)
    if head == _SQLITE:
        return [SessionPlace(path, id_) for id_ in _sessions(path)]
    if head[:4] == b"PK\x03\x04":
        return _of_zip(path)
    return [FilePlace(path, str(path))]


def _of_zip(path: Path) -> list[AnyPlace]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise BadRequest(f"{path}: the zip is broken: {error}", param=str(path)) from error
    held = sorted(name for name in names if may_hold(PurePosixPath(name).name))
    if not held:
        raise BadRequest(f"{path}: no conversations in this zip", param=str(path))
    if len(held) > MAX_ENTRIES:
        raise BadRequest(f"{path}: holds more than {MAX_ENTRIES:,} files", param=str(path))
    return [ZipPlace(path, name) for name in held]


def _walk(folder: Path, trouble: Trouble) -> Iterator[Path]:
    """Yield files whose names allow that they hold conversations."""
    seen = 0
    for base, folders, files in os.walk(folder, onerror=lambda e: trouble(_reason(e))):
        folders[:] = [folder_name for folder_name in folders if folder_name not in SKIPPED]
        seen += len(files) + len(folders)
        if seen > MAX_ENTRIES:
            raise BadRequest(f"{folder}: holds more than {MAX_ENTRIES:,} files", param=str(folder))
        for name in files:
            path = Path(base, name)
            if (may_hold(name) or name in DATABASES) and path.is_file():
                yield path


def may_hold(name: str) -> bool:
    """Return True if a file of this name may hold a conversation."""
    if name.endswith(".jsonl"):
        return not name.startswith("agent-")  # side chains of Claude Code's agents
    return (
        name == tasks.HISTORY
        or name.endswith(".messages.json")
        or (name.startswith("conversations") and name.endswith(".json"))
    )


def _beside(read: Callable[[], bytes]) -> Any:
    """Return the JSON that `read` returns, or None if it fails."""
    try:
        return json.loads(read())
    except (BadRequest, ValueError, RecursionError, KeyError):
        return None


def _bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        _unreadable(name, error)
    return _bounded(data, name)


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MAX_BYTES:
        raise BadRequest(f"{name}: larger than {MAX_BYTES / (1 << 30):g} GB", param=name)
    return data


def _sessions(path: Path) -> list[str]:
    """Return the ids of the sessions that no other session started."""
    columns = {row[1] for row in rows(path, "PRAGMA table_info(session)")}
    if "id" not in columns or not rows(path, "PRAGMA table_info(part)"):
        raise NoConversation(f"{path}: not a database of opencode or Kilo", param=str(path))
    return [
        row[0] for row in rows(path, "SELECT id FROM session WHERE parent_id IS NULL ORDER BY id")
    ]


def _exported(path: Path, id_: str) -> dict[str, Any]:
    """Return a session as `opencode export` would write it."""
    sessions = rows(path, "SELECT * FROM session WHERE id = ?", id_)
    if not sessions:
        raise BadRequest(f"{path}:{id_}: there is no such session any more", param=str(path))
    stored = rows(
        path, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", id_
    )
    parts: dict[str, list[Any]] = {}
    for row in rows(
        path, "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id", id_
    ):
        parts.setdefault(row[0], []).append(_value(row[1], f"{path}:{id_}"))
    messages = [
        {
            "info": {**fields(_value(row[1], f"{path}:{id_}")), "id": row[0]},
            "parts": parts.get(row[0], []),
        }
        for row in stored
    ]
    known = dict(sessions[0])
    revert = _value(known["revert"], str(path)) if known.get("revert") else None
    time = {"created": known.get("time_created"), "updated": known.get("time_updated")}
    info = {"id": id_, "title": known.get("title"), "time": time, "revert": revert}
    return {"info": info, "messages": messages}


def _value(stored: object, name: str) -> Any:
    return parse(str(stored).encode(), name).value


def rows(path: Path, query: str, *values: str) -> list[sqlite3.Row]:
    """Query a database without writing to it. Raises `BadRequest` that names the database."""
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as base:
            base.row_factory = sqlite3.Row
            return base.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise BadRequest(
            f"{path}: the database cannot be read: {error}", param=str(path)
        ) from error


def _reason(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}"


def _unreadable(name: str, error: OSError) -> NoReturn:
    raise BadRequest(f"{name}: {error.strerror or error}", param=name) from error
