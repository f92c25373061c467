"""Recognise the format of a file by its content, and read its conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree.text.json_lines import as_utf8, records, why
from memtree_proxy.imports import (
    chatgpt,
    claude_ai,
    claude_code,
    cline_cli,
    cline_tasks,
    codex,
    opencode,
    sillytavern,
    specstory,
)
from memtree_proxy.imports.conversation import FORMATS, Conversation, Fields, listed, text
from memtree_proxy.imports.specstory import Markdown

KILO_BASE = "kilo.db"
_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "image"})
_CLAUDE_KINDS = frozenset({"user", "assistant", "system"})


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file. `value`: a JSON value, a list of objects if each line holds one (`lines`), or
    Markdown of SpecStory's. `notes`: lines that could not be read as they stand, a sentence
    each."""

    value: Any
    lines: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file on disk, in a zip or in a request. `name`: as shown to people. `load`: parses it, and
    raises `BadRequest` that names the file, and the line where there is one. `origin`: its full
    path. `id`: id of its conversation if the file names none. `title`: its name without folder and
    ending. `beside`: returns the parsed JSON file of a name in the same folder, None if it cannot
    be read."""

    name: str
    load: Callable[[], ParsedFile]
    origin: str
    id: str
    title: str
    beside: Callable[[str], Any] = lambda _: None


class NoConversation(BadRequest):
    """The file has no known format; among other files of a folder it is skipped silently."""


def conversations(
    place: SourceFile,
    format_: str | None = None,
    whole: bool = False,
    names: bool = False,
) -> Iterator[Conversation]:
    """Yield the conversations of a file that have messages. `format_`: one of FORMATS, instead of
    the recognised one. `whole`: include messages that the program itself has condensed or cut.
    `names`: begin each message with the speaker's name, if the format records it.

    Raises `NoConversation` for an unknown format, `BadRequest` for a broken file.
    """
    parsed = place.load()
    format_ = format_ or recognised(parsed, place.name, place.origin)
    try:
        for talk in _read(place, parsed, format_, whole, names):
            if talk.messages:
                yield replace(talk, notes=parsed.notes + talk.notes)
    except RecursionError as error:
        raise BadRequest(f"{place.name}: nested too deeply", param=place.name) from error


def parse(data: bytes, name: str) -> ParsedFile:
    """Parse JSON, JSON on each line, or Markdown of SpecStory's. Lines that are broken are left out
    and noted, and so are NULs. Raises `BadRequest` if nothing can be read, naming the line and
    column."""
    try:
        data = as_utf8(data)
    except BadRequest as error:
        raise BadRequest(f"{name}: {error.message}", param=name) from error
    nulls = data.count(b"\0")
    data = data.rstrip(b"\0 \t\r\n\f\v") if nulls else data
    if not data or data.isspace():
        raise BadRequest(f"{name}: is empty", param=name)
    parsed = _parsed(data, name)
    note = (f"NULs ({nulls:,}), where something was not written; skipped",) if nulls else ()
    return replace(parsed, notes=parsed.notes + note)


def _parsed(data: bytes, name: str) -> ParsedFile:
    if specstory.is_history(data):
        return ParsedFile(Markdown(data.decode(errors="replace")))
    if name.endswith(".md"):
        raise NoConversation(f"{name}: not a session that SpecStory saved", param=name)
    read = records(data) if name.endswith(".jsonl") else None
    if read and read.values and not read.faulty:
        return ParsedFile(read.values, lines=True)
    wrong: BadRequest | None = None
    try:
        return ParsedFile(_json(data, name))
    except NotOneValue:
        pass
    except BadRequest as error:
        wrong = error
    of_lines = read is not None or wrong is None
    read = read or records(data)
    if read.values and (of_lines or len(read.values) >= read.faulty):
        return ParsedFile(read.values, lines=True, notes=read.notes)
    raise wrong if wrong and not of_lines else BadRequest(f"{name}, {read.notes[0]}", param=name)


class NotOneValue(BadRequest):
    """More text follows the first JSON value."""


def _json(data: bytes, name: str) -> Any:
    """Parse a JSON value. msgspec is fast and needs little memory; json reports where parsing
    stopped, and accepts NaN and unpaired surrogates, which JavaScript writes and msgspec
    refuses."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        more = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"
        kind = NotOneValue if more else BadRequest
        raise kind(f"{name}{why(error, document=True)}", param=name) from error


def recognised(parsed: ParsedFile, name: str, origin: str) -> str:
    """Return the file's format, one of FORMATS. Raises `NoConversation` if none matches."""
    value = parsed.value
    if isinstance(value, Markdown):
        return "specstory"
    items = listed(value if isinstance(value, list) else [value])
    format_name = _of_lines(items)
    if not format_name and (isinstance(value, dict) or parsed.lines):
        format_name = _of_object(items[0], origin)
    if not format_name and isinstance(value, list):
        format_name = _of_list(items, name, origin)
    if format_name:
        return format_name
    first = f"; {parsed.notes[0]}" if parsed.notes else ""
    raise NoConversation(
        f"{name}: not a conversation of a program that can be imported ({', '.join(FORMATS)}); "
        f"--format says which one it is meant to be{first}",
        param=name,
    )


def has_foreign_blocks(content: Any) -> bool:
    """Return True if the content of a message has Anthropic blocks."""
    return any(text(block.get("type")) in _BLOCKS for block in listed(content))


def _of_lines(lines: Iterable[Fields]) -> str | None:
    for line in lines:
        if "mes" in line or "chat_metadata" in line:
            return "sillytavern"
        if text(line.get("type")) in _CLAUDE_KINDS and "uuid" in line:
            return "claude-code"
        if codex.is_codex(line):
            return "codex"
        if isinstance(line.get("mapping"), dict):
            return "chatgpt"
        if claude_ai.is_exported(line):
            return "claude-ai"
    return None


def _of_object(value: Fields, origin: str) -> str | None:
    if not isinstance(value.get("messages"), list):
        return None
    if isinstance(value.get("info"), dict):
        return "kilo" if KILO_BASE in origin else "opencode"
    return "cline" if "sessionId" in value or "agent" in value else None


def _of_list(items: list[Fields], name: str, origin: str) -> str | None:
    foreign = any(has_foreign_blocks(item.get("content")) for item in items)
    if name.endswith(cline_tasks.HISTORY) or (foreign and any("role" in item for item in items)):
        return cline_tasks.owner(origin, items)
    if items and all("role" in item for item in items):
        raise NoConversation(
            f"{name}: is a list of messages already: index, tree and compress take it as it is",
            param=name,
        )
    return None


def _read(
    place: SourceFile, parsed: ParsedFile, format_: str, whole: bool, names: bool
) -> Iterable[Conversation]:
    value = parsed.value
    if isinstance(value, Markdown) != (format_ == "specstory"):
        raise BadRequest(f"{place.name}: is not in the format {format_}", param=place.name)
    if isinstance(value, Markdown):
        return [specstory.read(value, place.id)]
    if format_ in ("sillytavern", "claude-code", "codex"):
        lines = listed(value) if isinstance(value, list) else [_object(value, place)]
        if format_ == "claude-code":
            return [claude_code.read(lines, place.id, whole)]
        if format_ == "codex":
            return [codex.read(lines, place.id, whole)]
        return [sillytavern.read(lines, place.id, place.title, names=names)]
    if format_ == "chatgpt":
        return chatgpt.read(place.name, value)
    if format_ == "claude-ai":
        return claude_ai.read(place.name, value)
    if parsed.lines and isinstance(value[0].get("messages"), list):
        value = value[0]  # a document on one line
    if isinstance(value, dict) and isinstance(value.get("info"), dict):
        return [opencode.read(place.name, value, whole, kilo=format_ == "kilo")]
    if format_ in cline_tasks.FLAVOURS:
        if isinstance(value, dict):
            return [cline_cli.read(place.name, value, place.id)]
        return [cline_tasks.read(place.name, value, place.id, whole, place.beside, format_)]
    return [opencode.read(place.name, _object(value, place), whole)]


def _object(value: Any, place: SourceFile) -> Fields:
    if not isinstance(value, dict):
        raise BadRequest(f"{place.name}: must be an object", param=place.name)
    return value
