"""Count actions by file and by command: equal paths and equal commands are counted together.

A relative path counts as an absolute one that ends with it. Commands are compared without the
project's folder: without `cd /srv/shop &&` in `cd /srv/shop && make`, and without `/srv/shop/` in
arguments.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from memtree.digests.call_fields import (
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    RAN,
    READ,
    UNDONE,
    WRITTEN,
    clean_path,
)
from memtree.digests.call_results import NO_OUTCOME, Outcome
from memtree.history.chat_history import History
from memtree.unfolding.memory_plan import WorkLine, WorkSpan
from memtree.unfolding.work_events import WorkEvent, WorkText

REMOVED, REFUSED_EDIT = 1, 2
_SANDBOX = re.compile(r"(?<![\w/])/(?:testbed|workspace/[\w.-]+|repo|app)(?:/|(?=$| ))")


@dataclass(slots=True)
class FileWork:
    """Actions on one file. `last`: the message of the last change."""

    key: str
    name: WorkSpan
    created: int = 0
    edits: int = 0
    refused: int = 0
    undone: int = 0
    deleted: bool = False
    last: int = -1
    details: list[WorkSpan] = field(default_factory=list)

    @property
    def changes(self) -> int:
        return self.created + self.edits + self.undone + self.deleted

    @property
    def touches(self) -> int:
        return self.changes + self.refused


@dataclass(slots=True)
class CommandWork:
    """The runs of one command. `ends`: how many ended so, by the kind of their outcome; `outcome`,
    `line`: of the last run."""

    name: WorkSpan
    purpose: int
    runs: int = 0
    ends: Counter[int] = field(default_factory=Counter)
    last: int = -1
    outcome: Outcome = NO_OUTCOME
    line: WorkSpan | None = None


class Ledger:
    """Files, commands and commits of a history, filled event by event."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._files: dict[str, FileWork] = {}
        self._by_base: defaultdict[str, list[str]] = defaultdict(list)
        self._commands: dict[str, CommandWork] = {}
        self._folders: dict[str, None] = {}
        self.commits: list[WorkSpan] = []
        self.undone: list[WorkSpan] = []
        self._read: dict[str, WorkText] = {}  # names by path, the newest last

    @property
    def any(self) -> bool:
        return bool(self.changed_files() or self._commands or self.commits or self.undone)

    def changed_files(self) -> list[FileWork]:
        """Return the changed files, the most often touched and the newest first."""
        files = [file for file in self._files.values() if file.changes or file.refused]
        newest = max((file.last for file in files), default=0) or 1
        return sorted(files, key=lambda file: -(file.last / newest + min(file.touches, 10) / 20))

    def files_only_read(self) -> list[tuple[str, WorkText]]:
        """Return paths and names of the files that were read and not changed under any spelling of
        the path, newest first."""
        read = reversed(self._read.items())
        return [(path, name) for path, name in read if self._known(path) not in self._files]

    def commands_run(self) -> list[CommandWork]:
        """Return the commands that were run, newest first."""
        return sorted(self._commands.values(), key=lambda command: -command.last)

    def edits_of(self, line: WorkLine) -> list[WorkSpan]:
        """Return the new text of each change of a line's file, oldest first."""
        file = next((file for file in self._files.values() if file.name == line.name), None)
        return file.details if file else []

    def add(self, event: WorkEvent) -> None:
        if event.action.folder:
            self._folders[event.action.folder.rstrip("/")] = None
        if event.name is None:
            return
        if event.action.kind == RAN:
            self._ran(event, event.name)
        elif event.action.kind == COMMITTED:
            if not event.refused:
                self.commits.append(_span(event.name))
        elif event.action.kind == UNDONE and not _is_path(event.text):
            if not event.refused:
                self.undone.append(_span(event.name))
        elif event.action.kind == READ:
            path = clean_path(event.text)
            if self._known(path) not in self._files:
                self._read.pop(path, None)
                self._read[path] = event.name
        else:
            self._changed(event, event.name)

    def _ran(self, event: WorkEvent, name: WorkText) -> None:
        key = self.command_key(event.text)
        command = self._commands.get(key)
        if command is None:
            command = self._commands[key] = CommandWork(_span(name), event.action.command)
        command.name = _span(name)
        command.runs += 1
        command.ends[event.outcome.kind] += 1
        command.last, command.outcome = event.message, event.outcome
        command.line = _span(event.line) if event.line else None

    def command_key(self, text: str) -> str:
        """Return a command without the project's folders."""
        for folder in sorted(filter(None, self._folders), key=len, reverse=True):
            text = text.replace(f"{folder}/", "").replace(folder, ".")
        return " ".join(_SANDBOX.sub("", text).split())

    def _changed(self, event: WorkEvent, name: WorkText) -> None:
        file = self._file(clean_path(event.text), name)
        kind = event.action.kind
        if event.refused:
            file.refused += 1
            if event.action.new is not None:
                file.details.append(_new(event, REFUSED_EDIT))
            file.last = file.last if file.changes else event.message
            return
        if kind == WRITTEN:
            there = file.key in self._read or (file.changes and not file.deleted)
            new = event.made if event.made is not None else not there
            kind = CREATED if new else EDITED
        if kind == CREATED:
            file.created += 1
        elif kind == EDITED:
            file.edits += 1
        elif kind == UNDONE:
            file.undone += 1
        file.deleted = kind == DELETED
        file.last = event.message
        self._read.pop(file.key, None)
        if event.action.new is not None:
            file.details.append(_new(event, REMOVED if event.action.removes else 0))

    def _file(self, path: str, name: WorkText) -> FileWork:
        key = self._known(path)
        file = self._files.get(key)
        if file is None:
            file = self._files[path] = FileWork(path, self.short(path, name))
            self._by_base[path.rpartition("/")[2]].append(path)
        return file

    def _known(self, path: str) -> str:
        """Return the key of a file that is known under this path, or one that ends with it."""
        for key in self._by_base.get(path.rpartition("/")[2], ()):
            if path.startswith("/") and path.endswith(f"/{key}"):
                self._folders[path.removesuffix(f"/{key}")] = None
                return key
            if same_file(key, path):
                return key
        return path

    def short(self, path: str, name: WorkText) -> WorkSpan:
        """Return the name without the project's folder, if that is written out in it. Compares the
        path with every folder."""
        text = self._history.view(name.message).text[name.span.start : name.span.end]
        folders = [folder for folder in self._folders if path.startswith(f"{folder}/")]
        begins = len(max(folders, key=len, default="")) + 1 if folders else 0
        if not begins and (match := _SANDBOX.match(path)):
            begins = match.end()
        span = _span(name)
        if not begins or begins >= len(path) or not text.startswith(path[:begins]):
            return span
        return WorkSpan(span.message, span.start + begins, span.end, span.escaped)


def _new(event: WorkEvent, mark: int) -> WorkSpan:
    new = event.action.new
    assert new is not None
    return WorkSpan(event.message, new.start, new.end, new.escaped, mark)


def _span(text: WorkText) -> WorkSpan:
    return WorkSpan(text.message, text.span.start, text.span.end, text.span.escaped)


def same_file(path: str, other: str) -> bool:
    """Return True if two paths name one file: a relative one names what ends with it."""
    return path == other or path.endswith(f"/{other}") or other.endswith(f"/{path}")


def _is_path(text: str) -> bool:
    return " " not in text.strip() and not text.startswith("git")
