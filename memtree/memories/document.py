"""A document that a caller gave, and what is refused of it before it is stored.

Documents are the caller's own material, long and not written for a memory, so a secret in one does
not refuse it, as it does a memory: it is masked, and how many were is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.errors import BadRequest, RequestTooLarge, SecretRejected
from memtree.memories.draft import checked_name
from memtree.memories.scope import checked_id
from memtree.memories.secret_check import refuse_secrets
from memtree.text import secrets

MAX_BYTES = 1 << 20  # of a document's text, in UTF-8
MAX_METADATA_BYTES = 16_000  # as JSON
MAX_DEPTH = 8  # of metadata, the object itself being 1
_TYPE_FIELD = "type"

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
        """Equal for documents that say the same; it tells nothing of the text."""
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
    named = given.get(_TYPE_FIELD)
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
    """Return True if objects and arrays stand in each other deeper than that.

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
    """Metadata without secrets, and how many there were. A key that holds one refuses it: masked,
    two keys might become one."""
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
