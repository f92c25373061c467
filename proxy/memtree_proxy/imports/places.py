"""Find conversations: in a file, a folder, a zip, or the database of a program.

This is the only file of the package that touches the disk. Every read is bounded: a file, in a zip
or not, by its size, a folder by its number of entries. Links to folders are not followed.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import quote

from memtree.errors import BadRequest
from memtree.text.json_lines import Records
from memtree_proxy.imports import cline_tasks
from memtree_proxy.imports.conversation import fields
from memtree_proxy.imports.recognise import NoConversation, ParsedFile, SourceFile, parse

MAX_BYTES = 1 << 30  # of one file; the largest exports known are some 400 MB
MAX_ENTRIES = 200_000
SKIPPED = frozenset({".git", "node_modules", "subagents"})
DATABASES = frozenset({"opencode.db", "kilo.db"})
_SPECSTORY = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d.*\.md", re.DOTALL)
_SQLITE = b"SQLite format 3\x00"

Trouble = Callable[[str], None]
OpenZip = Callable[[Path], zipfile.ZipFile]


def place(name: str, path: PurePath, read: Callable[[str], bytes]) -> SourceFile:
    """Return a file. `read`: returns the content of a file of a name in the same folder."""

    def beside(other: str) -> Any:
        try:
            return json.loads(read(other))
        except (BadRequest, ValueError, RecursionError, KeyError):
            return None

    title = re.sub(r"(?:\.messages)?\.jsonl?\Z|\.md\Z", "", path.name)
    id_ = path.parent.name if path.name == cline_tasks.HISTORY else title
    return SourceFile(name, lambda: parse(read(path.name), name), str(path), id_, title, beside)


def file_place(path: Path, name: str, held: bytes | None = None) -> SourceFile:
    """Return a file on disk. `held`: content of one that can be read only once, as a pipe."""
    whole = path.absolute()

    def read(other: str) -> bytes:
        own = held if other == whole.name else None
        return _bytes(whole.with_name(other), name) if own is None else own

    return place(name, whole, read)


def _zip_place(path: Path, member: str, opened: OpenZip) -> SourceFile:
    """Return a file in a zip."""
    name, inner = f"{path}:{member}", PurePosixPath(member)

    def read(other: str) -> bytes:
        held = member if other == inner.name else str(inner.with_name(other))
        return _unzipped(path, held, name, opened)

    return replace(place(name, inner, read), origin=f"{path.absolute()}:{member}")


def _unzipped(path: Path, member: str, name: str, opened: OpenZip) -> bytes:
    try:
        info = opened(path).getinfo(member)
        if info.flag_bits & 1:
            raise BadRequest(f"{name}: is encrypted", param=name)
        with opened(path).open(info) as file:
            # The size that the zip states may be false: count bytes while unpacking.
            data = file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BadRequest(f"{name}: the zip is broken: {error}", param=name) from error
    except OSError as error:
        _unreadable(name, error)
    return _bounded(data, name)


def session_place(path: Path, id_: str) -> SourceFile:
    """Return a session in the database of opencode or Kilo."""
    origin = str(path.absolute())
    return SourceFile(f"{path}:{id_}", lambda: _exported(path, id_), origin, id_, id_)


def places(given: str, trouble: Trouble) -> list[SourceFile]:
    """Return the files under a path that may hold conversations. `trouble` is called with each that
    cannot be read.

    Raises `BadRequest` if the path itself cannot be read, or nothing is there.
    """
    path = Path(given)
    opened = lru_cache(maxsize=1)(zipfile.ZipFile)  # its directory may name 200,000 files
    if given == "-":
        name = "standard input"
        return [file_place(path, name, _bounded(sys.stdin.buffer.read(MAX_BYTES + 1), name))]
    try:
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode):
            if stat.S_ISREG(mode):
                return _of_file(path, opened)
            return [file_place(path, given, _bytes(path, given))]
        os.scandir(path).close()
    except OSError as error:
        _unreadable(given, error)
    all_places: list[SourceFile] = []
    for file in sorted(_walk(path, trouble)):
        try:
            all_places += _of_file(file, opened)
        except NoConversation:
            continue
        except BadRequest as error:
            trouble(error.message)
        except OSError as error:
            trouble(f"{file}: {error.strerror}")
    if not all_places:
        raise BadRequest(f"{given}: no conversations in this folder", param=given)
    return all_places


def _of_file(path: Path, opened: OpenZip) -> list[SourceFile]:
    with path.open("rb") as file:
        head = file.read(16)
    if head == _SQLITE:
        return [session_place(path, id_) for id_ in _sessions(path)]
    if head[:4] == b"PK\x03\x04":
        return _of_zip(path, opened)
    return [file_place(path, str(path))]


def _of_zip(path: Path, opened: OpenZip) -> list[SourceFile]:
    try:
        names = opened(path).namelist()
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise BadRequest(f"{path}: the zip is broken: {error}", param=str(path)) from error
    held = sorted(name for name in names if may_hold(PurePosixPath(name)))
    if not held:
        raise BadRequest(f"{path}: no conversations in this zip", param=str(path))
    if len(held) > MAX_ENTRIES:
        raise BadRequest(f"{path}: holds more than {MAX_ENTRIES:,} files", param=str(path))
    return [_zip_place(path, name, opened) for name in held]


def _walk(folder: Path, trouble: Trouble) -> Iterator[Path]:
    """Yield files whose names allow that they hold conversations."""
    seen = 0
    walk = os.walk(folder, onerror=lambda e: trouble(f"{e.filename}: {e.strerror}"))
    for base, folders, files in walk:
        folders[:] = [folder_name for folder_name in folders if folder_name not in SKIPPED]
        seen += len(files) + len(folders)
        if seen > MAX_ENTRIES:
            raise BadRequest(f"{folder}: holds more than {MAX_ENTRIES:,} files", param=str(folder))
        for name in files:
            path = Path(base, name)
            if (may_hold(path) or name in DATABASES) and path.is_file():
                yield path


def may_hold(path: PurePath) -> bool:
    """Return True if a file of this name may hold a conversation."""
    name = path.name
    if name.startswith("._"):  # what macOS keeps beside a file
        return False
    if name.endswith(".jsonl"):
        return not name.startswith("agent-")  # side chains of Claude Code's agents
    return (
        name == cline_tasks.HISTORY
        or name.endswith(".messages.json")
        or (name.startswith("conversations") and name.endswith(".json"))
        or (name.endswith(".json") and "projects" in (path.stem, path.parent.name))  # claude.ai
        or bool(_SPECSTORY.fullmatch(name))
    )


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
    query = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY id"
    return [row[0] for row in rows(path, query)]


def _exported(path: Path, id_: str) -> ParsedFile:
    """Return a session as `opencode export` would write it."""
    sessions = rows(path, "SELECT * FROM session WHERE id = ?", id_)
    if not sessions:
        raise BadRequest(f"{path}:{id_}: there is no such session any more", param=str(path))
    broken = Records()

    def value(row: sqlite3.Row | dict[str, Any]) -> Any:
        try:
            return parse(str(row["data"]).encode(), str(path)).value
        except BadRequest:
            broken.note(f"row {row['id']}: not valid JSON; skipped")
            return None

    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    stored = rows(path, query, id_)
    parts: dict[str, list[Any]] = {}
    query = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id"
    for row in rows(path, query, id_):
        parts.setdefault(row["message_id"], []).append(value(row))
    messages = [
        {"info": {**fields(value(row)), "id": row["id"]}, "parts": parts.get(row["id"], [])}
        for row in stored
    ]
    known = dict(sessions[0])
    revert = value({"id": "revert", "data": known["revert"]}) if known.get("revert") else None
    time = {"created": known.get("time_created"), "updated": known.get("time_updated")}
    info = {"id": id_, "title": known.get("title"), "time": time, "revert": revert}
    return ParsedFile({"info": info, "messages": messages}, notes=broken.notes)


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


def _unreadable(name: str, error: OSError) -> NoReturn:
    raise BadRequest(f"{name}: {error.strerror or error}", param=name) from error
