"""Read the files that other programs write of their memories.

ChatGPT: `conversations.json` of its data export. It has no list of saved memories, but what the
model saved: messages of the assistant to the tool `bio`, whose text is the memory, and the list
that a conversation began with (`model_set_context`). All branches of a conversation count.

claude.ai: `memories.json` of its export, `{"conversations_memory": TEXT, "project_memories":
{ID: TEXT}}`. A text is Markdown: each paragraph and each point of a list becomes a memory, with the
heading above it as a tag.

mem0: what `get_all` answers, `{"results": [{"id", "memory", "hash", "metadata", "categories",
"created_at", "updated_at", "user_id", ...}]}` (the list alone in its older versions), or an export
under "memories".

OpenMemory: `memories.json` of its backup, where memories name their categories by id, or the lines
of `memories.jsonl.gz`, which name them. Of a memory that is not active there nothing is imported:
whoever deleted, archived or paused it did not want it used.

A list that somebody copied: one memory a line, with or without bullets, numbers and dates. ChatGPT
shows its saved memories as such a list, and gives it no other way out (Settings, Personalization,
Manage memories); asked for them it writes `1. [2026-03-07]. TEXT` or `[2026-03-07] - TEXT`.

    >>> list_line("- [2026-03-07] - Lives in Graz.")
    ('Lives in Graz.', 1772841600.0)

The MCP server `server-memory`: its file, and what its tool `read_graph` answers. A line each:
`{"type": "entity", "name", "entityType", "observations": [...]}` and `{"type": "relation", "from",
"to", "relationType"}`. Every observation becomes a memory of its own, "NAME: OBSERVATION", with the
entity's type as a tag, and so does every relation, as a sentence.

    >>> _sentence({"from": "Ada Klein", "to": "Harbour Lab", "relationType": "works_at"})
    'Ada Klein works at Harbour Lab'
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from memtree.agents.memory_schema import is_deeper
from memtree.errors import BadRequest
from memtree.memories.checked_fields import canonical_tag, timestamp
from memtree.memories.memory import MAX_TAGS
from memtree.text.json_lines import lines
from memtree.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.transfer.json_entries import FileEntry, RepeatedKeys, broken

MOST_DATA_CHARS = 16_000  # of what else a program keeps beside a text, as JSON
_MOST_DEPTH = 16
Entries = Iterable[FileEntry | LineResult]
_MILLISECONDS = 1e11  # unix times from here on are milliseconds: in seconds it is the year 5138


def moment(value: object) -> float | None:
    """Unix seconds of an ISO 8601 text or of a number; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        seconds = value / 1000 if value >= _MILLISECONDS else float(value)
        return seconds if math.isfinite(seconds) and seconds > 0 else None
    try:
        return timestamp(value, "time")
    except BadRequest:
        return None


def found_tags(values: object) -> tuple[str, ...]:
    """Those of a list that can be tags."""
    if not isinstance(values, list):
        return ()
    tags: dict[str, None] = {}
    for value in values[: 4 * MAX_TAGS]:
        try:
            tags.setdefault(canonical_tag(value, "tag"))
        except BadRequest:
            continue
    tags.pop("", None)
    return tuple(tags)[:MAX_TAGS]


def kept_data(value: object) -> Mapping[str, Any] | None:
    """An object that may be stored beside a text; None for an empty one, for what is none, and for
    one that is too large or too deep."""
    if not isinstance(value, dict) or not value or is_deeper(value, _MOST_DEPTH):
        return None
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return None
    return value if len(written) <= MOST_DATA_CHARS else None


def items_of(
    entries: Entries,
    read: Callable[[FileEntry], Iterator[FileItem]],
    lists: tuple[str, ...] | None = None,
) -> Iterator[FileItem]:
    """Yield what `read` makes of the entries of a file. `lists`: fields of the document whose
    values must be objects without a repeated key; None: all."""
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif lists is not None and entry.key not in lists:
            yield from read(entry)
        elif isinstance(entry.value, RepeatedKeys):
            why = "a key is given twice in it"
            yield LineResult(entry.line, LineStatus.INVALID, "repeated_key", why)
        elif not isinstance(entry.value, dict):
            yield LineResult(entry.line, LineStatus.INVALID, "not_an_object", "must be an object")
        else:
            yield from read(entry)


# Marks of citations and cards in ChatGPT's texts: U+E200 KIND U+E202 FIELD ... U+E201, and in older
# ones a number and a name in brackets.
_MARKED = re.compile(
    "( ?)\ue200([^\ue200\ue201]*)\ue201(?=(\\w?))|\ue200\\w*(?:\ue202\\S*)?|[\ue200-\ue206]"
    "| ?【[0-9:]{1,9}†[^】\n]{0,200}】"
)


def without_marks(text: str) -> str:
    """Return a text of ChatGPT without its marks of citations; what the page shows in place of a
    mark, as the name of a place or the title of a link, stays.

    >>> without_marks("So \ue200cite\ue202turn0\ue201. It is \ue200url\ue202here\ue202x\ue201.")
    'So. It is here.'
    """
    return _MARKED.sub(_label, text) if "\ue200" in text or "†" in text else text


def _label(mark: re.Match[str]) -> str:
    space, inside, word = mark[1] or "", mark[2] or "", mark[3]
    kind, _, fields = inside.partition("\ue202")
    shown: Any = fields.partition("\ue202")[0] if kind in ("url", "link_title") else ""
    if kind == "entity":  # [TYPE, NAME, ...]
        with suppress(ValueError, LookupError, TypeError, RecursionError):
            shown = json.loads(fields)[1]
    if shown and isinstance(shown, str):
        return space + shown
    return space if word else ""


_ENTRY = re.compile(r"\n(?=[0-9]{1,5}\. ?\[)")
_FORGET = re.compile(r"(?:please )?(?:forget|delete|remove)\b", re.IGNORECASE)


def chatgpt_items(entries: Entries) -> Iterator[FileItem]:
    """Yield the memories. One that was saved twice comes twice."""
    return items_of(entries, _chatgpt, ("",))


def _chatgpt(entry: FileEntry) -> Iterator[FileItem]:
    nodes = entry.value if entry.key else entry.value.get("mapping")
    if entry.key in ("", "mapping") and isinstance(nodes, dict):
        items: list[FileItem] = []
        for node in nodes.values():
            message = node.get("message") if isinstance(node, dict) else None
            if isinstance(message, dict):
                items += _saved(entry.line, message)
        yield from sorted(items, key=lambda item: getattr(item, "created", None) or 0.0)
    elif not entry.key:
        yield _invalid(entry.line, "must be a conversation")


def _saved(line: int, message: dict[str, Any]) -> list[FileItem]:
    content, author = message.get("content"), message.get("author")
    if not isinstance(content, dict):
        return []
    created = moment(message.get("create_time"))
    if isinstance(known := content.get("model_set_context"), str):
        return [
            FileMemory(line, text, created=day)
            for entry in _ENTRY.split(without_marks(known))
            for text, day in [list_line(entry)]
            if text
        ]
    role = author.get("role") if isinstance(author, dict) else None
    parts = content.get("parts")
    if role != "assistant" or message.get("recipient") != "bio" or not isinstance(parts, list):
        return []
    text = without_marks("\n".join(part for part in parts if isinstance(part, str))).strip()
    if not text:
        return []
    if _FORGET.match(text):
        why = "asks to forget something; delete that memory yourself"
        return [LineResult(line, LineStatus.SKIPPED, "forget_request", why)]
    return [FileMemory(line, text, created=created)]


CLAUDE_TEXTS = ("conversations_memory", "project_memories", "memory_files")
_POINT = re.compile(r"(?:[-*•]|[0-9]{1,3}[.)]) ")
_TITLE = re.compile(r"(#{1,6} |\*{1,3}(?=[^*\s][^*]*\*))([^*]{1,80}(?<![.!?]))\*{0,3}:?")


def claude_items(entries: Entries) -> Iterator[FileItem]:
    return items_of(entries, _claude, ("",))


def _claude(entry: FileEntry) -> Iterator[FileItem]:
    fields = {entry.key: entry.value} if entry.key else entry.value
    for text in chain.from_iterable(_claude_texts(fields.get(name)) for name in CLAUDE_TEXTS):
        yield from _points(entry.line, text)


def _claude_texts(value: object) -> list[str]:
    """The texts of a field: one, one for each project, or one for each file."""
    if isinstance(value, dict):
        value = [value["content"]] if "content" in value else list(value.values())
    given = value if isinstance(value, list) else [value]
    files = [item.get("content") if isinstance(item, dict) else item for item in given]
    return [text for text in files if isinstance(text, str)]


def _points(line: int, text: str) -> Iterator[FileItem]:
    titles: list[str] = []
    said: list[str] = []
    for part in (*map(str.strip, text.splitlines()), ""):
        title = _TITLE.fullmatch(part)
        if said and (not part or title or _POINT.match(part)):
            point, created = list_line("\n".join(said))
            said = []
            if not _NOTHING.fullmatch(point):
                yield FileMemory(line, point, tags=found_tags(titles), created=created)
        if title:
            titles = [title[2]] if title[1] != "*" else [*titles[:1], title[2]]
        elif part:
            said.append(part)


_MEM0_LISTS = ("", "results", "memories")
_OPENMEMORY_LISTS = ("", "memories")
_ACTIVE = "active"


def mem0_items(entries: Entries) -> Iterator[FileItem]:
    return items_of(entries, _mem0, _MEM0_LISTS)


def _mem0(entry: FileEntry) -> Iterator[FileItem]:
    fields = entry.value
    if entry.key in _MEM0_LISTS:
        ends = moment(fields.get("expiration_date"))
        yield _record(entry, "memory", fields.get("categories"), ends)
    elif entry.key == "relations" and isinstance(fields, dict):
        why = "a relation of a graph; the memories that it was made from are imported"
        yield LineResult(entry.line, LineStatus.SKIPPED, "relation", why)


def _record(entry: FileEntry, name: str, categories: object, ends: float | None = None) -> FileItem:
    """A memory of either program. `name`: of the field that holds its text."""
    fields, text = entry.value, entry.value.get(name)
    if not isinstance(text, str):
        return LineResult(entry.line, LineStatus.INVALID, "no_text", f"{name} must be a text")
    return FileMemory(
        entry.line,
        text,
        tags=found_tags(categories),
        created=moment(fields.get("created_at")),
        expires=ends,
        data=kept_data(fields.get("metadata")),
        user=_text(fields.get("user_id")),
    )


def openmemory_items(entries: Entries) -> Iterator[FileItem]:
    return items_of(entries, partial(_openmemory, {}), _OPENMEMORY_LISTS)


def _openmemory(names: dict[str, str], entry: FileEntry) -> Iterator[FileItem]:
    """`names`: of the categories so far, by their ids."""
    fields = entry.value
    if entry.key == "categories" and isinstance(fields, dict):
        names[_text(fields.get("id"))] = _text(fields.get("name"))
    elif entry.key in _OPENMEMORY_LISTS and (state := fields.get("state", _ACTIVE)) != _ACTIVE:
        known = state if state in ("paused", "archived", "deleted") else "not active"
        why = f"it is {known} where it comes from"
        yield LineResult(entry.line, LineStatus.SKIPPED, "not_active", why)
    elif entry.key in _OPENMEMORY_LISTS:
        ids, categories = fields.get("category_ids"), fields.get("categories")
        if isinstance(ids, list):
            categories = [names[id_] for id_ in ids if isinstance(id_, str) and id_ in names]
        yield _record(entry, "content", categories)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_MARK = re.compile(r"(?:[-*•‣◦–—·]|\(?[0-9]{1,5}[.)])(?:\s+(?:\[[ xX]\]\s)?|(?=\[))")
_DATE = re.compile(
    r"\[([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{4,15}Z?)?)\](?:\s?[-–—:.]\s|[.:]?\s|(?=\S))"
)
_NOTHING = re.compile(r"[\W_]*")
_FENCE, _HEADING = "```", re.compile(r"#{1,6} ")


def list_items(raw: bytes) -> Iterator[FileItem]:
    """A memory each line that holds a word."""
    for line in lines(raw):
        try:
            text = line.text.decode().strip()
        except UnicodeDecodeError as error:
            yield broken(line.number, error)
            continue
        if text.startswith(_FENCE) or _HEADING.match(text):
            continue
        text, created = list_line(text)
        if not _NOTHING.fullmatch(text):
            yield FileMemory(line.number, text, created=created)


def list_line(line: str) -> tuple[str, float | None]:
    """The text of a line, and the day that stands before it as unix seconds."""
    text = line.strip()
    if mark := _MARK.match(text):
        text = text[mark.end() :].lstrip()
    created = None
    if date := _DATE.match(text):
        created = moment(date[1])
        text = text[date.end() :].lstrip()
    return text, created


_TYPES = {"entities": "entity", "relations": "relation"}  # by the list of a document


def server_memory_items(entries: Entries) -> Iterator[FileItem]:
    return items_of(entries, _graph)


def _graph(entry: FileEntry) -> Iterator[FileItem]:
    kind = _TYPES.get(entry.key) or entry.value.get("type")
    if kind == "entity":
        yield from _entity(entry.line, entry.value)
    elif kind == "relation" and (text := _sentence(entry.value)):
        yield FileMemory(entry.line, text)
    else:
        yield _invalid(entry.line, "must be an entity or a relation with its names")


def _entity(line: int, fields: dict[str, Any]) -> Iterator[FileItem]:
    name, seen = fields.get("name"), fields.get("observations")
    type_ = fields.get("entityType")
    if not isinstance(name, str) or not name.strip() or not isinstance(seen, list):
        yield _invalid(line, "an entity must have a name and a list of observations")
        return
    tags = found_tags([type_])
    for observation in seen:
        if isinstance(observation, str):
            yield FileMemory(line, f"{name.strip()}: {observation.strip()}", tags=tags)
        else:
            yield _invalid(line, "an observation must be a text")
    if not seen and isinstance(type_, str) and type_.strip():
        yield FileMemory(line, f"{name.strip()}: {type_.strip()}", tags=tags)


def _sentence(fields: dict[str, Any]) -> str:
    """Empty where something of it is missing."""
    words = [fields.get(name) for name in ("from", "relationType", "to")]
    if not all(isinstance(word, str) and word.strip() for word in words):
        return ""
    first, verb, last = (" ".join(str(word).split()) for word in words)
    return f"{first} {verb.replace('_', ' ')} {last}"


def _invalid(line: int, message: str) -> LineResult:
    return LineResult(line, LineStatus.INVALID, "not_a_memory", message)
