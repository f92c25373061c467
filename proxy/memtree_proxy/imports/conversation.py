"""`Conversation`, the value that every format is read into, and checks of the shapes in foreign
files.

`paired` makes incomplete histories valid: every tool call is answered, directly behind it. A
session that was killed lacks results, and a condensed session has results without calls. A call
without a result therefore gets a result that says so, a result further down is moved up to its
call, and a result without a call becomes a user message, since its text is worth keeping.

    >>> lone = {"role": "tool", "tool_call_id": "a", "content": "42"}
    >>> paired([lone], lambda name: "lost")
    [{'role': 'user', 'content': '[tool result]\\n42'}]
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree_proxy.imports import js

Fields = dict[str, Any]

FORMATS = (
    "chatgpt", "claude-ai", "cline", "roo", "kilo", "opencode", "sillytavern", "claude-code",
    "codex", "specstory",
)  # fmt: skip
TITLE_CHARS = 80
NAME_CHARS = 256  # of a tool's name in a result's text: many calls may have one long name
NO_RESULT = "[no result was recorded]"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of another program. `messages`: OpenAI messages, as the program would send
    them next. `date`: of the last change, ISO 8601 in UTC, empty if unknown. `dropped`: number of
    messages left out of `messages` because the program itself condensed or cut them."""

    format: str
    id: str
    title: str
    date: str
    messages: tuple[Fields, ...]
    dropped: int = 0
    sealed: int = 0
    notes: tuple[str, ...] = ()


def newest(order: Sequence[str], parents: Mapping[str, str]) -> str:
    """Return the last of some ids that is no parent of another of them."""
    named = {parents[id_] for id_ in order}
    return next((id_ for id_ in reversed(order) if id_ not in named), order[-1] if order else "")


def branch(
    leaf: str, parents: Mapping[str, str], order: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the ids from the root to `leaf`, and a note if parents are missing. `parents`: of
    every id in the file; empty for a root. `order`: ids as they stand in the file.

    Where a parent is not in the file, as after a broken line, the walk goes on with what stands
    before all that it has taken, if anything does.

        >>> branch("d", {"a": "", "b": "a", "d": "c"}, ["a", "b", "d"])[0]
        ['a', 'b', 'd']
    """
    places = {id_: place for place, id_ in enumerate(order)}
    path: list[str] = []
    seen: set[str] = set()
    first, missing, joined, at = len(order), 0, False, leaf
    while at:
        seen.add(at)
        path.append(at)
        first = min(first, places.get(at, first))
        parent = parents.get(at, "")
        missing += bool(parent) and parent not in parents
        if parent and (parent in seen or parent not in parents):
            parent = order[first - 1] if first else ""
            joined = joined or bool(parent)
        at = parent
    names = "1 message names a parent" if missing == 1 else f"{missing:,} messages name parents"
    rest = "the pieces are joined in the file's order" if joined else "what stood before is lost"
    return path[::-1], (f"{names} outside of the file; {rest}",) if missing else ()


def objects(value: Any, where: str) -> list[Fields]:
    """Return a list of objects. Raises `BadRequest` naming the first item that is no object."""
    if not isinstance(value, list):
        raise BadRequest(f"{where}: must be an array")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise BadRequest(f"{where}[{index}]: must be an object")
    return value


def entries(value: Any, where: str) -> tuple[list[Fields], tuple[str, ...]]:
    """Return the entries of an export, or the only one, and a note if some are no objects. Raises
    `BadRequest` for what is neither a list nor an object."""
    if isinstance(value, dict):
        return [value], ()
    if not isinstance(value, list):
        raise BadRequest(f"{where}: must be an array")
    known = listed(value)
    lost = len(value) - len(known)
    return known, (f"{lost:,} of {len(value):,} entries are no objects; skipped",) if lost else ()


def listed(value: Any) -> list[Fields]:
    """Return the objects of a list, or an empty list if the value is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def moment(value: Any) -> str:
    """Return a time, given in seconds, milliseconds or ISO text, as ISO 8601 to the minute."""
    try:
        if isinstance(value, int | float) and value > 0:
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%MZ")
        if isinstance(value, str) and value:
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
            return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (ValueError, OverflowError, OSError):
        pass
    return ""


def titled(given: Any, messages: Sequence[Fields]) -> str:
    """Return the title that a file gives, or else the beginning of the user's first text."""
    texts = (words(message) for message in messages if message.get("role") == "user")
    shown = text(given) or next((said for said in texts if said.strip()), "") or "untitled"
    line = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def raw_message(message: Fields) -> bytes:
    """Return a message as JSON, even if its text is no valid Unicode."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # half a surrogate pair, which the routes refuse
        return js.well_formed(json.dumps(message, ensure_ascii=False)).encode()


def words(message: Fields) -> str:
    """Return the text of an OpenAI message."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(text(part.get("text")) for part in listed(content))
    return text(content)


def tool_call(id_: Any, name: Any, arguments: str) -> Fields:
    return {
        "id": text(id_),
        "type": "function",
        "function": {"name": text(name), "arguments": arguments},
    }


def image(media_type: Any, data: Any) -> Fields:
    url = f"data:{text(media_type)};base64,{text(data)}"
    return {"type": "image_url", "image_url": {"url": url}}


def unrecorded(name: str) -> str:
    """Return the text for the missing result of a call to `name`."""
    return NO_RESULT


def paired(messages: Iterable[Fields], missing: Callable[[str], str] = unrecorded) -> list[Fields]:
    """Return the messages with a result behind each call. `missing`: makes the text of a missing
    result from the tool's name."""
    done: list[Fields] = []
    turn = _Turn()
    for message in messages:
        if message["role"] == "assistant":
            done += turn.close(missing)
            turn = _Turn(message)
        else:
            turn.add(message)
    return done + turn.close(missing)


class _Turn:
    """An assistant message, the results of its calls in order of arrival, and the messages that
    followed."""

    def __init__(self, head: Fields | None = None) -> None:
        self._head = [head] if head else []
        calls = (head or {}).get("tool_calls") or []
        self._names = {call["id"]: call["function"]["name"] for call in calls}
        self._open = Counter(call["id"] for call in calls)
        self._results: list[Fields] = []
        self._others: list[Fields] = []

    def add(self, message: Fields) -> None:
        if message["role"] != "tool":
            self._others.append(message)
        elif self._open[message["tool_call_id"]] > 0:
            self._open[message["tool_call_id"]] -= 1
            self._results.append(message)
        else:
            self._others.append({"role": "user", "content": f"[tool result]\n{words(message)}"})

    def close(self, missing: Callable[[str], str]) -> list[Fields]:
        lost = [
            {"role": "tool", "tool_call_id": id_, "content": missing(self._names[id_][:NAME_CHARS])}
            for id_ in self._open.elements()
        ]
        return [*self._head, *self._results, *lost, *self._others]
