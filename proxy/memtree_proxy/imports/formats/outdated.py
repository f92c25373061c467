"""Hide file reads that a later read has made obsolete, as Cline does (`MessageBuilder`, @cline/core
3.0.65): if that saves 64 KB or more, a remark replaces the old contents. This mirrors a session
that is opened again; a running session is rewritten in several steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memtree_proxy.imports import js
from memtree_proxy.imports.conversation import Fields, fields, listed, text

MIN_BYTES = 65_536
RESULT_CHARS = 8_000
REMARK = "[outdated - see the latest file content]"
READ_TOOLS = frozenset({"read", "read_files"})
READ_IMAGE = "Successfully read image"
NOTHING = object()

_QUERY = re.compile(r"(.*):(\d{1,18})-(EOF|\d{1,18})")


class LineSpan(NamedTuple):
    """A range of lines in a file; the whole file if both ends are None."""

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def whole(self) -> bool:
        return self.first is None and self.last is None

    @property
    def key(self) -> str:
        if self.whole:
            return self.path
        first = 1 if self.first is None else self.first
        return f"{self.path}:{first}-{'EOF' if self.last is None else self.last}"


Hidden = Mapping[str, frozenset[str]]  # keys of obsolete spans by the id of the call that read them


def reads(messages: Sequence[Fields]) -> Hidden:
    """Return the read results to hide; none if hiding them would save too little."""
    results = list(_results(messages))
    newest: dict[str, str] = {}
    holders: dict[str, str] = {}
    for block, spans in results:
        for span in spans:
            if block.get("type") != "file":
                newest[span.key] = _id(block)
            if span.whole:
                holders[span.path] = _id(block)
    old: dict[str, frozenset[str]] = {}
    size = 0
    for block, spans in results:
        keys = frozenset(
            span.key
            for span in spans
            if holders.get(span.path, _id(block)) != _id(block)
            or newest.get(span.key, _id(block)) != _id(block)
        )
        if keys and block.get("type") != "file":
            old[_id(block)] = keys
            size += _bytes(block.get("content"), spans, keys)
    return old if size >= MIN_BYTES else {}


def without(block: Fields, hidden: Hidden) -> Fields:
    """Return a result with the remark in place of its obsolete parts."""
    keys = hidden.get(_id(block))
    if not keys or block.get("is_error") is True:
        return block
    content = block.get("content")
    if not isinstance(content, list):
        return {**block, "content": _rewritten(text(content), keys)}
    images = sum(_images(part, keys) for part in listed(content))
    made = []
    for part in listed(content):
        kind = part.get("type")
        if kind == "text":
            part = {**part, "text": _rewritten(text(part.get("text")), keys)}
        elif kind == "image" and images:
            images -= 1
            part = {"type": "text", "text": REMARK}
        elif kind not in ("image", "file"):
            part = _remarked(part, keys)
        made.append(part)
    return {**block, "content": made}


def parsed(shown: str) -> Any:
    """Parse a JSON value; returns `NOTHING` if the text is no JSON."""
    try:
        return json.loads(shown)
    except (ValueError, RecursionError):
        return NOTHING


def truncated(units: int) -> str:
    """Return the mark that replaces the middle of a long result."""
    return f"\n\n...[truncated {units} chars]...\n\n"


def _id(block: Fields) -> str:
    return text(block.get("tool_use_id")) or text(block.get("at"))


def _results(messages: Sequence[Fields]) -> Iterator[tuple[Fields, list[LineSpan]]]:
    """Yield read results, and files that the user attached, with the spans that they show, in
    order."""
    names: dict[str, str] = {}
    requests: dict[str, list[LineSpan]] = {}
    for number, message in enumerate(messages):
        for at, block in enumerate(listed(message.get("content"))):
            kind = block.get("type")
            if kind == "file":
                holder = {"type": "file", "at": f"file:{number}:{at}"}
                yield holder, [LineSpan(text(block.get("path")))]
            elif kind == "tool_use":
                names[text(block.get("id"))] = text(block.get("name")).lower()
                requests[text(block.get("id"))] = _asked(fields(block.get("input")))
            elif kind == "tool_result" and block.get("is_error") is not True:
                name = names.get(_id(block), text(block.get("name")).lower())
                if name in READ_TOOLS:
                    yield block, _found(block.get("content")) or requests.pop(_id(block), [])


def _asked(given: Fields) -> list[LineSpan]:
    paths = given.get("file_paths")
    named = [_request(given), *(_request(file) for file in listed(given.get("files")))]
    if isinstance(paths, list):
        named += [LineSpan(path) for path in paths if isinstance(path, str) and path]
    return _once(named)


def _found(content: Any) -> list[LineSpan]:
    if not isinstance(content, list):
        return _once([_entry(entry) for entry in _entries(text(content))])
    spans: list[LineSpan | None] = []
    for part in listed(content):
        if part.get("type") == "text":
            spans += [_entry(each) for each in _entries(text(part.get("text")))]
        elif part.get("type") not in ("image", "file"):
            spans.append(_entry(part))
    return _once(spans)


def _entries(shown: str) -> list[Any]:
    value = parsed(shown)
    return value if isinstance(value, list) else [value]


def _once(spans: Sequence[LineSpan | None]) -> list[LineSpan]:
    return list({span.key: span for span in spans if span}.values())


def _request(given: Fields) -> LineSpan | None:
    path = _path(given)
    return (
        LineSpan(path, _line(given.get("start_line")), _line(given.get("end_line")))
        if path
        else None
    )


def _entry(value: Any) -> LineSpan | None:
    """Return the span of an entry of a result, named by its path and lines or by its query."""
    entry = fields(value)
    if _path(entry):
        return _request(entry)
    query = text(entry.get("query"))
    if match := _QUERY.fullmatch(query):
        last = None if match[3] == "EOF" else int(match[3])
        return LineSpan(match[1], int(match[2]), last)
    return LineSpan(query) if query else None


def _path(given: Fields) -> str:
    return next(
        (path for key in ("path", "file_path", "filePath") if (path := text(given.get(key)))), ""
    )


def _line(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _bytes(content: Any, spans: Sequence[LineSpan], keys: frozenset[str]) -> int:
    """Return the number of bytes in a request that the remark would save."""
    every = bool(spans) and all(span.key in keys for span in spans)
    if not isinstance(content, list):
        return _text_bytes(text(content), every or not spans, keys)
    images = sum(_images(part, keys) for part in listed(content))
    size = 0
    for part in listed(content):
        kind = part.get("type")
        if kind == "text":
            size += _text_bytes(text(part.get("text")), every or not spans, keys)
        elif kind == "image" and images:
            images -= 1
            size += len(text(part.get("data")).encode())
        elif kind not in ("image", "file") and _is_old(part, keys):
            size += _entry_bytes(part)
    return size


def _text_bytes(shown: str, every: bool, keys: frozenset[str]) -> int:
    value = parsed(shown)
    if value is NOTHING:
        return (
            len(js.cut_middle(shown, RESULT_CHARS, truncated).encode("utf-8", "replace"))
            if every
            else 0
        )
    entries = value if isinstance(value, list) else [value]
    return sum(_entry_bytes(entry) for entry in entries if _is_old(entry, keys))


def _entry_bytes(entry: Any) -> int:
    return len(
        js.stringify(js.shortened(entry, RESULT_CHARS, truncated)).encode("utf-8", "replace")
    )


def _is_old(entry: Any, keys: frozenset[str]) -> bool:
    span = _entry(entry)
    return span is not None and span.key in keys


def _images(block: Fields, keys: frozenset[str]) -> int:
    """Count the obsolete images of a result that a text block's entries refer to."""
    if block.get("type") != "text":
        return 0
    return sum(
        _is_old(entry, keys) and READ_IMAGE in (entry.get("result"), entry.get("content"))
        for entry in _entries(text(block.get("text")))
    )


def _rewritten(shown: str, keys: frozenset[str]) -> str:
    value = parsed(shown)
    if value is NOTHING:
        return REMARK
    if isinstance(value, list):
        return js.stringify([_remarked(entry, keys) for entry in value])
    return js.stringify(_remarked(value, keys))


def _remarked(entry: Any, keys: frozenset[str]) -> Any:
    if not _is_old(entry, keys):
        return entry
    has = {key for key in ("result", "content") if isinstance(entry.get(key), str)}
    return {**entry, "content" if has == {"content"} else "result": REMARK}
