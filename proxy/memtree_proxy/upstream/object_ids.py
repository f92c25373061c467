"""Ids of objects at the provider: those that a request names, and those that an answer creates.

In requests nearly all fields are searched, since a missed field would give access to somebody
else's file; in answers only fields in which the provider itself writes an id. Text by a model, a
tool or the client is searched in neither: there `file_id` is a word like any other.

    >>> from memtree.wire.json_body import split
    >>> named(split(b'{"input": "hi", "previous_response_id": "resp_1"}'))
    {'resp_1'}
    >>> named(split(b'{"messages": [{"role": "user", "content": "what is a file_id?"}]}'))
    set()

Streams are read as they pass, line by line, without delaying them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memtree.errors import BadRequest, UnsupportedMedia
from memtree.wire.json_body import Body
from memtree_proxy.http.content_encoding import Decoder

# limits of reading; of a longer answer only its own id is read
MOST, MOST_EVENT = 32 << 20, 1 << 20
MAX_ID = 512  # characters

_IDS = frozenset(
    """
    file_id file_ids vector_store_id vector_store_ids container_id previous_response_id skill_id
    previous_message_id cached_content
    """.split()
)
_OBJECTS = frozenset(
    {"prompt", "conversation", "container", "audio", "thread"}
)  # these hold an id, or an object with an `id`
# Fields with arbitrary content: schemas, and text of clients and models. (`diagnostics` explain why
# the provider's cache missed, with the id of an answer that is not stored.)
_FREE = frozenset(
    """
    metadata parameters input_schema schema json_schema arguments headers properties diagnostics
    """.split()
)
_KEYS = ("id", "type", *sorted(_IDS | _OBJECTS))
_KEY = re.compile(rb'"(?:%b)"\s*+:' % "|".join(_KEYS).encode())
_NAMING_KEY = re.compile(rb'"(?:%b)"\s*+:' % "|".join(_KEYS[2:]).encode())
# A letter written as an escape. Few encoders do so; in a key it may hide the key's name.
_ESCAPE = re.compile(rb"\\u00(?:5[Ff]|[46][1-9A-Fa-f]|[57][0-9Aa])")
# No string begins after a backslash, so each is read at most twice.
_ANY_KEY = re.compile(rb'(?<!\\)"((?:[^"\\]++|\\.)*+)"\s*+:', re.DOTALL)
_FIRST_ID = re.compile(rb'\s*+\{\s*+"id"\s*+:\s*+"([^"\\]{1,512})"')
_BARE = {"id", "type", "status"}
_MADE_FILES = frozenset(
    {"container_file_citation", "code_execution_output", "bash_code_execution_output"}
)


def named(body: Body) -> set[str]:
    """Return the ids in a request's body. Raises `BadRequest` for a body in which two readers may
    see different ids."""
    escaped = _ESCAPE.search(body.raw) is not None
    items_told = "input" in body.spans and b'"id"' in body.raw
    if not (escaped or items_told or _NAMING_KEY.search(body.raw)):
        return set()
    if escaped and any(map(_ESCAPE.search, _ANY_KEY.findall(body.raw))):
        raise BadRequest("the name of a field in the body is written with escapes")
    root = {name: body.value(name) for name in body.spans}
    keys = sum(name in node for node in _nodes(root, frozenset()) for name in _KEYS)
    if keys != len(_KEY.findall(body.raw)):
        raise BadRequest("a field of an object in the body is given twice")
    items = root.get("input")
    ids = [item["id"] for item in items if _refers(item)] if isinstance(items, list) else []
    ids += [id_ for node in _nodes(root, _FREE) for id_ in _named_by(node)]
    return {id_ for id_ in ids if isinstance(id_, str) and id_}


def _named_by(node: dict[str, Any]) -> Iterator[Any]:
    for name in node.keys() & _IDS:
        # Anthropic's own skills are available to everybody
        if name != "skill_id" or node.get("type") != "anthropic":
            yield from node[name] if isinstance(node[name], list) else (node[name],)
    for name in node.keys() & _OBJECTS:
        value = node[name]
        if isinstance(value, dict):
            yield value.get("id")
        elif name in ("conversation", "container"):  # other fields of these names may be texts
            yield value


def _refers(item: object) -> bool:
    """Return True if the provider looks up the content of an input item by the item's id."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    kind = item.get("type")
    if kind in ("reasoning", "compaction"):
        return not item.get("encrypted_content")
    if not kind:
        return "role" not in item
    return kind in ("item_reference", "image_generation_call") or item.keys() <= _BARE


def _nodes(root: object, free: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield all objects in a decoded value, except those in `free` fields and in arguments of
    tools."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            called = bool(free) and value is not root and str(value.get("type")).endswith("_use")
            waiting += [
                inner
                for name, inner in value.items()
                if name not in free and not (called and name == "input")
            ]


class MadeIds:
    """Reads an answer while it passes: `feed` and `end` return the ids read since the last call.
    `events`: it is a stream of server-sent events, else one JSON value. `encoding`: its
    content-encoding. `kept`: the provider stores the answer itself, with its items.
    """

    def __init__(self, *, events: bool, encoding: str, kept: bool) -> None:
        self._events, self._kept = events, kept
        self._most = MOST_EVENT if events else MOST
        self._pieces: list[bytes] = []
        self._size = 0
        self._unreadable = False
        try:
            self._decoder = Decoder(encoding) if encoding not in ("", "identity") else None
        except UnsupportedMedia:
            self._decoder, self._unreadable = None, True

    def feed(self, chunk: bytes) -> set[str]:
        """Return the ids in the answer's next bytes, which may begin and end anywhere."""
        ids: set[str] = set()
        try:
            for piece in self._decoder.pieces(chunk) if self._decoder else (chunk,):
                ids |= self._read(piece)
        except (BadRequest, UnsupportedMedia):  # the client's own decoder reports the error
            self._decoder, self._unreadable = None, True
        return ids

    def end(self) -> set[str]:
        """Return the ids in the last line, which has no line break."""
        return self._told()

    def _read(self, piece: bytes) -> set[str]:
        if not self._events:
            self._keep(piece)
            return set()
        ids: set[str] = set()
        first, *others = piece.split(b"\n")
        self._keep(first)
        for line in others:
            ids |= self._told()
            self._keep(line)
        return ids

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._most and not self._unreadable:
            self._pieces.append(piece)

    def _told(self) -> set[str]:
        """Return the ids in the buffered text, and drop it."""
        whole = b"".join(self._pieces)
        cut, self._size, self._pieces = self._size > self._most, 0, []
        if self._events:
            if not whole.startswith(b"data:"):
                return set()
            whole = whole[5:]
        if cut:
            own = _FIRST_ID.match(whole) if self._kept else None
            return {own[1].decode("utf-8", "replace")} if own else set()
        try:
            answer = msgspec.json.decode(whole) if len(whole) > 1 else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return set()
        ids = made(answer, kept=self._kept) if isinstance(answer, dict) else ()
        return {id_ for id_ in ids if isinstance(id_, str) and 0 < len(id_) <= MAX_ID}


def made(answer: dict[str, Any], *, kept: bool) -> Iterator[Any]:
    """Yield the ids in an answer, or in one event of it, that the provider created for it."""
    outer = [answer, answer.get("response"), answer.get("message"), answer.get("delta")]
    places = [place for place in outer if isinstance(place, dict)]
    items = [answer.get("item")]
    written = [answer.get("annotation"), answer.get("content_block")]
    for place in places:
        for name in ("output", "choices", "content"):
            rows = place.get(name)
            (items if name == "output" else written).extend(rows if isinstance(rows, list) else ())
        container = place.get("container")
        if isinstance(container, dict):
            yield container.get("id")
    if kept:
        yield from (place.get("id") for place in places)
    for item in items:
        if isinstance(item, dict):
            yield item.get("container_id")
            written.append(item.get("content"))
            if kept:
                yield item.get("id")
    for node in _nodes(written, _FREE | {"input", "tools"}):
        if node.get("type") in _MADE_FILES:
            yield from (node.get("file_id"), node.get("container_id"))
        if isinstance(node.get("audio"), dict):
            yield node["audio"].get("id")
