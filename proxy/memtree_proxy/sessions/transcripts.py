"""Find and read the transcripts that coding agents keep of their sessions.

Supports files of Claude Code, Codex and Cline, task folders of the extensions of Cline and Kilo,
and the databases of opencode and Kilo. Nothing is written there. Links below an agent's folder are
not followed, and sizes are limited: tool output in a transcript may be hostile.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtree.errors import BadRequest
from memtree_proxy.imports import cline_tasks, places, recognise
from memtree_proxy.imports.conversation import Conversation, Fields, fields, listed, text
from memtree_proxy.imports.recognise import SourceFile

MAX_BYTES = 64 << 20  # of one transcript
# A bracket of JSON means an object or a list, some 200 bytes in memory: a file consisting of
# brackets would take many times its size.
MAX_BRACKETS = 2_000_000
MAX_DEPTH = 8  # folders below an agent's own
MAX_TRANSCRIPTS = 5_000  # the newest
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_SERVERS = (".vscode-server", ".cursor-server", ".windsurf-server")
_EXTENSIONS = (("cline", "saoudrizwan.claude-dev"), ("kilo", "kilocode.kilo-code"))
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
WORKING_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]{1,1000})\)")


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """`path`: a folder of files, or a database file."""

    agent: str
    path: Path


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session on disk. `key`: identifies it. `stamp`: changes whenever it does. `changed`: unix
    seconds. `session`: its id in a database, "" for a file; `project`: its folder, if a database
    names one."""

    agent: str
    path: Path
    stamp: tuple[int, int]
    changed: float
    session: str = ""
    project: str = ""

    @property
    def key(self) -> str:
        return f"{self.path}\n{self.session}"


@dataclass(frozen=True, slots=True)
class ReadTranscript:
    """`project`: the folder that the agent worked in, "" if unknown."""

    conversation: Conversation
    project: str


def folders(env: Mapping[str, str]) -> list[TranscriptFolder]:
    """Return where agents of this user keep transcripts; none of the folders need exist."""
    home = env.get("HOME") or env.get("USERPROFILE")
    if not home:
        return []
    user = Path(home)

    def under(variable: str, *default: str) -> Path:
        return Path(env[variable]) if env.get(variable) else user.joinpath(*default)

    data = under("XDG_DATA_HOME", ".local", "share")
    codex = under("CODEX_HOME", ".codex")
    settings = [under("XDG_CONFIG_HOME", ".config"), user / "Library" / "Application Support"]
    if env.get("APPDATA"):
        settings.append(Path(env["APPDATA"]))
    editors = [base / name for base in settings for name in _EDITORS]
    editors += [user / name / "data" for name in _SERVERS]
    return [
        TranscriptFolder("claude-code", under("CLAUDE_CONFIG_DIR", ".claude") / "projects"),
        TranscriptFolder("codex", codex / "sessions"),
        TranscriptFolder("codex", codex / "archived_sessions"),
        TranscriptFolder("cline", user / ".cline" / "data" / "sessions"),
        TranscriptFolder("opencode", data / "opencode" / "opencode.db"),
        TranscriptFolder("kilo", data / "kilo" / "kilo.db"),
        *(
            TranscriptFolder(agent, editor / "User" / "globalStorage" / name / "tasks")
            for editor in editors
            for agent, name in _EXTENSIONS
        ),
    ]


def newest(where: Sequence[TranscriptFolder], since: float) -> list[Transcript]:
    """Return the transcripts that changed since `since`, newest first, at most
    `MAX_TRANSCRIPTS`."""
    transcripts = [each for folder in where for each in _listed(folder) if each.changed >= since]
    return sorted(transcripts, key=lambda each: each.changed, reverse=True)[:MAX_TRANSCRIPTS]


def _listed(folder: TranscriptFolder) -> Iterator[Transcript]:
    if folder.path.name in places.DATABASES:
        if (status := _regular(folder.path)) is not None:
            yield from _of_database(folder.agent, folder.path, status)
        return
    root = folder.path.resolve()  # the folder itself may be a symbolic link of the user's
    for path in _walk(root):
        if (status := _regular(path)) is not None:
            stamp = (status.st_size, status.st_mtime_ns)
            yield Transcript(folder.agent, path, stamp, status.st_mtime)


def _walk(root: Path) -> Iterator[Path]:
    seen = 0
    for base, names, files in os.walk(root):  # does not follow links
        if len(Path(base).relative_to(root).parts) >= MAX_DEPTH:
            names.clear()
        names[:] = [name for name in names if name not in places.SKIPPED]
        seen += len(names) + len(files)
        if seen > places.MAX_ENTRIES:
            return
        yield from (path for name in files if places.may_hold(path := Path(base, name)))


def _regular(path: Path) -> os.stat_result | None:
    """Return the file's status; None if there is no file, or a link."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _of_database(agent: str, path: Path, status: os.stat_result) -> Iterator[Transcript]:
    """Yield sessions that were not started by another session; none of an unreadable database."""
    with suppress(BadRequest):
        columns = {row[1] for row in places.rows(path, "PRAGMA table_info(session)")}
        if not columns >= {"id", "time_updated"}:
            return
        folder = "directory" if "directory" in columns else "''"
        where = "WHERE parent_id IS NULL" if "parent_id" in columns else ""
        query = f"SELECT id, time_updated, {folder} FROM session {where}"
        for id_, updated, project in places.rows(path, query):
            time = updated if isinstance(updated, int) else int(status.st_mtime * 1000)
            yield Transcript(agent, path, (0, time), time / 1000, str(id_), str(project or ""))


def read(transcript: Transcript) -> ReadTranscript | None:
    """Return all messages of a session, also those that the agent has condensed; None if there are
    none. Raises `BadRequest` for an unreadable or too large one.
    """
    if transcript.session:
        size = "SELECT total(length(data)) FROM part WHERE session_id = ?"
        if places.rows(transcript.path, size, transcript.session)[0][0] > MAX_BYTES:
            raise BadRequest(f"{transcript.path}: a session of it is larger than 64 MB")
        place = places.session_place(transcript.path, transcript.session)
        project = transcript.project
    else:
        place = _loaded(transcript.path)
        project = _project(place, transcript.path)
    conversation = next(recognise.conversations(place, transcript.agent, whole=True), None)
    return None if conversation is None else ReadTranscript(conversation, project)


def _loaded(path: Path) -> SourceFile:
    """Read a file. Raises as `read`."""
    place = places.place(str(path), path.absolute(), lambda name: _bytes(path.with_name(name)))
    parsed = place.load()
    return replace(place, load=lambda: parsed)


def _bytes(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise BadRequest(f"{path}: larger than {MAX_BYTES >> 20} MB")
    if data.count(b"{") + data.count(b"[") > MAX_BRACKETS:
        raise BadRequest(f"{path}: more than {MAX_BRACKETS:,} objects")
    return data


def _project(place: SourceFile, path: Path) -> str:
    """Return the agent's folder that a file names: in its first lines, beside it, or in its first
    message."""
    parsed = place.load()
    value = parsed.value
    if parsed.lines:
        named = (text(each.get("cwd")) or text(fields(each.get("payload")).get("cwd"))
                 for each in value)  # fmt: skip
        return next(filter(None, named), "")
    if path.name == cline_tasks.HISTORY:
        match = WORKING_FOLDER.search(_beginning(value))
        return match[1] if match else ""
    manifest = fields(place.beside(f"{place.title}.json"))
    return text(manifest.get("cwd")) or text(manifest.get("workspace_root"))


def _beginning(value: Any) -> str:
    first: Fields = next(iter(listed(value)), {})
    content = first.get("content")
    parts = [text(part.get("text")) for part in listed(content)]
    return text(content) or "\n".join(parts)
