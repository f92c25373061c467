"""Recognise the format of a file by its content, and read its conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree_proxy.imports import (
    chatgpt,
    claude_code,
    cline_cli,
    codex,
    opencode,
    sillytavern,
    tasks,
)
from memtree_proxy.imports.conversation import FORMATS, Conversation, Fields, fields, text

_MARK = b"\xef\xbb\xbf"
KILO_BASE = "kilo.db"
_TASKS = ("cline", "roo", "kilo")
BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "image"})
_CLAUDE_KINDS = frozenset({"user", "assistant", "system"})


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file. `value`: a JSON value, or a list of objects if each line holds one
    (`lines`)."""

    value: Any
    lines: bool = False


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
        yield from (talk for talk in _read(place, parsed, format_, whole, names) if talk.messages)
    except RecursionError as error:
        raise BadRequest(f"{place.name}: nested too deeply", param=place.name) from error


def parse(data: bytes, name: str) -> ParsedFile:
    """Parse JSON, or JSON on each line. Raises `BadRequest` naming the line and column."""
    data = data.removeprefix(_MARK)
    if not data or data.isspace():
        raise BadRequest(f"{name}: is empty", param=name)
    if not name.endswith(".jsonl"):
        try:
            return ParsedFile(_json(data, name))
        except NotOneValue:
            pass
    numbered = [(at, line) for at, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return ParsedFile([_line(line, name, at) for at, line in numbered], lines=True)


class NotOneValue(BadRequest):
    """More text follows the first JSON value."""


def _line(line: bytes, name: str, number: int) -> Fields:
    value = _json(line, name, number)
    if not isinstance(value, dict):
        raise BadRequest(f"{name}, line {number}: must be an object", param=name)
    return value


def _json(data: bytes, name: str, line: int = 0) -> Any:
    """Parse a JSON value. msgspec is fast and needs little memory; json reports where parsing
    stopped, and accepts NaN and unpaired surrogates, which JavaScript writes and msgspec
    refuses."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _slowly(data, name, line)


def _slowly(data: bytes, name: str, line: int) -> Any:
    where = f"{name}, line {line}" if line else name
    try:
        return json.loads(data.decode())
    except json.JSONDecodeError as error:
        place = f"{name}, line {line or error.lineno}, column {error.colno}"
        kind = NotOneValue if error.msg == "Extra data" and not line else BadRequest
        raise kind(f"{place}: not valid JSON: {error.msg}", param=name) from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{where}: not text in UTF-8, byte {error.start}", param=name) from error
    except RecursionError as error:
        raise BadRequest(f"{where}: nested too deeply", param=name) from error
    except ValueError as error:  # the only other cause
        raise BadRequest(f"{where}: a number has too many digits", param=name) from error


def recognised(parsed: ParsedFile, name: str, origin: str) -> str:
    """Return the file's format, one of FORMATS. Raises `NoConversation` if none matches."""
    value = parsed.value
    if parsed.lines:
        format_name = _of_lines(value)
    elif isinstance(value, dict):
        format_name = _of_object(value, origin)
    else:
        format_name = _of_list(value if isinstance(value, list) else [], name, origin)
    if format_name:
        return format_name
    raise NoConversation(
        f"{name}: not a conversation of a program that can be imported ({', '.join(FORMATS)}); "
        "--format says which one it is meant to be",
        param=name,
    )


def _of_lines(lines: Iterable[Fields]) -> str | None:
    for line in lines:
        if "mes" in line or "chat_metadata" in line:
            return "sillytavern"
        if text(line.get("type")) in _CLAUDE_KINDS and "uuid" in line:
            return "claude-code"
        if codex.is_codex(line):
            return "codex"
    return None


def _of_object(value: Fields, origin: str) -> str | None:
    if isinstance(value.get("mapping"), dict):
        return "chatgpt"
    if not isinstance(value.get("messages"), list):
        return None
    if isinstance(value.get("info"), dict):
        return "kilo" if KILO_BASE in origin else "opencode"
    return "cline" if "sessionId" in value or "agent" in value else None


def _of_list(value: list[Any], name: str, origin: str) -> str | None:
    items = [fields(item) for item in value]
    if any(isinstance(item.get("mapping"), dict) for item in items):
        return "chatgpt"
    blocks = {
        text(fields(block).get("type"))
        for item in items
        for block in (item["content"] if isinstance(item.get("content"), list) else ())
    }
    if name.endswith(tasks.HISTORY) or (BLOCKS & blocks and any("role" in item for item in items)):
        return tasks.owner(origin, items)
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
    if format_ in ("sillytavern", "claude-code", "codex"):
        lines = value if parsed.lines else [_object(value, place)]
        if format_ == "claude-code":
            return [claude_code.read(lines, place.id, whole)]
        if format_ == "codex":
            return [codex.read(lines, place.id, whole)]
        return [sillytavern.read(lines, place.id, place.title, names=names)]
    if parsed.lines:
        raise BadRequest(f"{place.name}: is not in the format {format_}", param=place.name)
    if format_ == "chatgpt":
        return chatgpt.read(place.name, value)
    if isinstance(value, dict) and isinstance(value.get("info"), dict):
        return [opencode.read(place.name, value, whole, kilo=format_ == "kilo")]
    if format_ in _TASKS:
        if isinstance(value, dict):
            return [cline_cli.read(place.name, value, place.id)]
        return [tasks.read(place.name, value, place.id, whole, place.beside, format_)]
    return [opencode.read(place.name, _object(value, place), whole)]


def _object(value: Any, place: SourceFile) -> Fields:
    if not isinstance(value, dict):
        raise BadRequest(f"{place.name}: must be an object", param=place.name)
    return value
