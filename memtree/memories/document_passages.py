"""Check a document, cut it into passages stored as memories, and put it together again.

Documents are the caller's own material, long and not written for a memory. So a secret in one does
not refuse it, as it does a memory: it is masked, and how many were is told.

Each passage is one memory, in the order of the text:

thread_id   the document's id           category   its type
text        the passage, uncut: all of a document's, joined, are its text
data        place (from 0), of, start, end, head (the first passage's id), shown (its metadata
            as one short line); the first one's also metadata, characters, digest, masked
tags        `document` on the first, so that a list of documents is a list of those

In a prompt a passage is one line. What the document says is anybody's text, and so are its
metadata: the line is as safe as a memory's, and its label cannot be forged from within.

    >>> metadata_line({"author": "Ada", "year": 2024, "draft": True, "none": None})
    'author=Ada; year=2024; draft=true'
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.errors import BadRequest, RequestTooLarge, SecretRejected
from memtree.memories.checked_fields import refuse_secrets
from memtree.memories.draft import checked_name
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.prompt_lines import CUT, one_line
from memtree.memories.scope import checked_id
from memtree.memories.search.vector_bytes import packed_terms
from memtree.text import secrets
from memtree.text.normal_form import text_hash

MAX_BYTES = 1 << 20  # of a document's text, in UTF-8
MAX_METADATA_BYTES = 16_000  # as JSON
MAX_DEPTH = 8  # of metadata, the object itself being 1

Metadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """`type`: what a search filters by. `masked`: secrets that stand as `[secret]` in text and
    metadata. Made by `checked`."""

    id: str
    text: str
    type: str | None
    metadata: Metadata
    masked: int = 0

    @property
    def digest(self) -> str:
        """A hash that is equal for documents that say the same, and tells nothing of the text."""
        said = msgspec.json.encode([self.text, self.type, self.metadata], order="sorted")
        return hashlib.blake2b(said, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. `passages`: how many it was cut into. `characters`: of its text, code
    points. `created`: when it took the place of the one before it, unix seconds."""

    id: str
    type: str | None
    metadata: Metadata
    passages: int
    characters: int
    created: float
    masked: int = 0
    digest: str = ""


def checked(id_: str, text: str, type_: str | None, metadata: Metadata | None) -> NewDocument:
    """Check a document and return what is stored of it. Without a `type`, the one in its metadata
    counts. Raises `BadRequest`, `RequestTooLarge` and `SecretRejected` naming the field."""
    checked_id(id_, "id")
    given = {} if metadata is None else metadata
    _check_metadata(given)
    named = given.get("type")
    if type_ is None and isinstance(named, str) and named:
        type_ = named
    _check_text(text)
    with _naming("type"):
        if type_ is not None:
            checked_name(type_, "type")
    with _naming("metadata"):
        kept, masked = _masked(given)
    masked += len(secrets.find(text))
    return NewDocument(id_, secrets.mask(text), type_, kept, masked)


@contextmanager
def _naming(field: str) -> Iterator[None]:
    try:
        yield
    except SecretRejected as error:
        raise SecretRejected(f"{field}: {error.message}", param=field) from None


def _check_text(text: str) -> None:
    if not text.strip():
        raise BadRequest("text must not be empty", param="text")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRequest("text holds half a character (a lone surrogate)", param="text") from None
    if size > MAX_BYTES:
        raise RequestTooLarge(
            f"text has {size} bytes; a document has at most {MAX_BYTES}", param="text"
        )
    if "\0" in text:
        raise BadRequest("text holds a NUL character", param="text")


def _check_metadata(metadata: Metadata) -> None:
    if depth_beyond(metadata, MAX_DEPTH):
        raise BadRequest(f"metadata is nested deeper than {MAX_DEPTH} levels", param="metadata")
    try:
        size = len(msgspec.json.encode(metadata))
        msgspec.msgpack.encode(metadata)  # as it is stored
    except (OverflowError, TypeError, ValueError):  # numbers over 64 bits, lone surrogates
        raise BadRequest("metadata has a value that cannot be stored", param="metadata") from None
    if size > MAX_METADATA_BYTES:
        raise BadRequest(
            f"metadata has {size} bytes; at most {MAX_METADATA_BYTES} are kept", param="metadata"
        )


def depth_beyond(value: object, most: int) -> bool:
    """Return True if objects and arrays stand in each other deeper than `most` levels.

    >>> depth_beyond({"a": [1]}, 1), depth_beyond({"a": [1]}, 2)
    (True, False)
    """
    level: list[object] = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
    return any(isinstance(each, Mapping | list) for each in level)


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _masked(metadata: Metadata) -> tuple[dict[str, Any], int]:
    """Return the metadata without secrets, and how many there were. A key that holds one refuses
    it: masked, two keys might become one."""
    count = 0

    def without(value: Any, name: str = "") -> Any:
        nonlocal count
        if isinstance(value, str):
            said = f"{name}: {value}"  # a random text is a secret beside a word like password
            count += len(secrets.find(said))
            return secrets.mask(said)[len(name) + 2 :]
        if isinstance(value, list):
            return [without(inner, name) for inner in value]
        return object_without(value) if isinstance(value, Mapping) else value

    def object_without(value: Mapping[str, Any]) -> dict[str, Any]:
        for key in value:
            refuse_secrets(key)
        return {key: without(inner, key) for key, inner in value.items()}

    return object_without(metadata), count


MOST_CHARS = 1_200  # of a line with its number: a passage as it is cut fits whole
MOST_METADATA = 240  # characters of a metadata line
MOST_KEY, MOST_VALUE = 40, 80
MOST_LABEL = 100  # characters of a document's id that are shown
READ = 1_000  # characters of a key or a value that are looked at
_NUMBER = len("20. ")
_SEPARATORS = str.maketrans("[];", "(),")


def line(memory: Memory, *, metadata: bool = False) -> str:
    """Write a passage as it stands in a numbered list, `[handbook.md 3/12] text`; with `metadata`,
    what is known of the document before the bracket ends. Empty where nothing of the text can be
    shown."""
    data = memory.data or {}
    shown = one_line(memory.text)
    if not shown:
        return ""
    label = _cut(_plain(memory.thread_id or ""), MOST_LABEL)
    place, of = data.get("place"), data.get("of")
    if isinstance(place, int) and isinstance(of, int):
        label = f"{label} {place + 1}/{of}"
    details = data.get("shown")
    if metadata and isinstance(details, str) and details:
        label = f"{label}; {one_line(details)}"
    room = MOST_CHARS - _NUMBER - len(f"[{label}] ")
    return f"[{label}] {_cut(shown, room)}"


def metadata_line(metadata: Mapping[str, Any]) -> str:
    """Write simple values as short `key=value`, in the order given; what is nested is left out."""
    line = ""
    for pair in _pairs(metadata):
        longer = f"{line}; {pair}" if line else pair
        if len(longer) > MOST_METADATA:
            break
        line = longer
    return line


def _pairs(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key, value in metadata.items():
        values = value if isinstance(value, list) else [value]
        said = ", ".join(_said(each) for each in values[:READ])
        name, shown = _plain(key[:READ]), _plain(said[:READ])
        if name and shown:
            yield f"{_cut(name, MOST_KEY)}={_cut(shown, MOST_VALUE)}"


def _said(value: object) -> str:
    """Write a simple value as JSON has it; "" for others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def _plain(text: str) -> str:
    return one_line(text).translate(_SEPARATORS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(CUT)].rstrip() + CUT


PASSAGE = "passage"  # the kind of these memories
SOURCE = "document"  # their source type
FIRST = "document"  # the tag of each document's first one

Cut = Callable[[str], Sequence[tuple[int, int]]]  # a text to (start, end) of its passages


def memories_of(
    document: NewDocument, cut: Cut, new_id: Callable[[], str], now: float
) -> list[NewMemory]:
    spans = cut(document.text)
    ids = [new_id() for _ in spans]
    texts = [document.text[start:end] for start, end in spans]
    # A log or a table says the same again and again; each text is read once.
    read = {text: (text_hash(text), packed_terms(text)) for text in dict.fromkeys(texts)}
    shared: dict[str, Any] = {"of": len(spans), "head": ids[0]}
    if shown := metadata_line(document.metadata):
        shared["shown"] = shown
    first = {
        "metadata": dict(document.metadata),
        "characters": len(document.text),
        "digest": document.digest,
        "masked": document.masked,
    }
    return [
        NewMemory(
            id=id_,
            text=text,
            text_hash=read[text][0],
            terms=read[text][1],
            created=now,
            kind=PASSAGE,
            data={"place": place, "start": start, "end": end, **shared, **({} if place else first)},
            category=document.type,
            tags=() if place else (FIRST,),
            source_type=SOURCE,
            tainted=True,
            thread_id=document.id,
        )
        for place, (id_, text, (start, end)) in enumerate(zip(ids, texts, spans, strict=True))
    ]


def document_of(first: Memory | NewMemory) -> Document:
    """Return the document whose first passage this is."""
    data = first.data or {}
    return Document(
        id=first.thread_id or "",
        type=first.category,
        metadata=data.get("metadata") or {},
        passages=data.get("of", 1),
        characters=data.get("characters", len(first.text)),
        created=first.created,
        masked=data.get("masked", 0),
        digest=data.get("digest", ""),
    )


def head_of(passage: Memory) -> str:
    """Return the id of the first passage of its document."""
    return str((passage.data or {}).get("head", ""))


def text_of(passages: Iterable[Memory]) -> str | None:
    """Return the text of a document; None where these are not all of its passages."""
    rows = sorted(passages, key=lambda row: (row.data or {}).get("place", 0))
    of = (rows[0].data or {}).get("of", 1) if rows else -1
    if len(rows) != of or len({head_of(row) for row in rows}) != 1:
        return None
    return "".join(row.text for row in rows)
