"""A structured memory as it is stored, and what is refused of its data before that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.agents.agent_memory import StructuredWrite
from memtree.memories.agents.structured_text import structured_text
from memtree.memories.fields.secret_check import refuse_secrets
from memtree.memories.memory import (
    MAX_TEXT_CHARS,
    USER_CATEGORIES,
    MemoryFields,
    NewMemory,
)
from memtree.memories.search.text_terms import packed_terms
from memtree.text.normal_form import text_hash

DIRECT = "agent"  # the source type of what an agent stores as it is
MAX_DATA_BYTES = 16_384  # of the data of one memory, as JSON
MAX_DEPTH = 32  # objects and arrays inside one another
_LEAST_INTEGER, _MOST_INTEGER = -(2**63), 2**63 - 1
# Wider than any white space that the patterns of secrets reach over: fields are told apart.
_APART = "\n\n\n\n\n"
_NAME_END = 80  # characters of a field's name that stand before its value
_CARRIERS = frozenset({"data", "text", "value", "values"})  # names that say nothing of what it is


def structured_memory(
    id_: str,
    given: MemoryFields,
    now: float,
    *,
    most: int = MAX_TEXT_CHARS,
    unique_key: bytes = b"",
    replaces: str = "",
    allow_secrets: bool = False,
    name: str = "data",
) -> StructuredWrite:
    """Check `given`, which has a kind and data, and return what is to be stored; its tags are in
    their form already. `most`: characters of its text. `unique_key`, `replaces`: as in
    `StructuredWrite`. `name`: what errors call the data, as `memories[3].data`.

    Raises `BadRequest` and `SecretRejected`, which name that place and no value.
    """
    data = checked_data(given.data, name)
    if not allow_secrets:
        refuse_secrets_in(data, name)
        for label in (given.kind, *given.tags):
            refuse_secrets(label)
    text = structured_text(given.kind, data, most)
    said: dict[str, Any] = {
        **given.said_of_it(),
        "data": dict(data),
        "category": given.kind if given.kind in USER_CATEGORIES else given.category,
        "last_confirmed": now,
    }
    memory = NewMemory(id_, text, text_hash(text), packed_terms(text), now, **said)
    return StructuredWrite(memory, unique_key, replaces)


def checked_data(value: object, name: str = "data") -> dict[str, Any]:
    """The data of a memory. Raises `BadRequest`, naming the field, for what is no JSON object of at
    most 16 kB and a depth of 32, or holds what a store or another client cannot read: half a
    surrogate pair, a NUL character, an integer beyond 64 bits, a number that is none."""
    if not isinstance(value, dict):
        raise BadRequest(f"{name} must be a JSON object", param=name)
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _checked_values(outer, name)]
        if not level:
            break
    else:
        raise BadRequest(f"{name} is nested deeper than {MAX_DEPTH}", param=name)
    size = len(msgspec.json.encode(value))
    if size > MAX_DATA_BYTES:
        raise BadRequest(
            f"{name} has {size} bytes as JSON; at most {MAX_DATA_BYTES} are kept", param=name
        )
    return value


def refuse_secrets_in(data: Mapping[str, Any], name: str = "data") -> None:
    """Raises `SecretRejected` where a name or a value holds a secret, or both together do
    (`"password": ...`): it names the place of the data and the kind of secret."""
    try:
        refuse_secrets(_APART.join(_told(data)))
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


def _checked_values(outer: Any, name: str) -> list[Any]:
    """The objects and arrays inside one."""
    if isinstance(outer, dict):
        for key in outer:
            _check_text(key, name)
        values = list(outer.values())
    else:
        values = outer
    inner = []
    for value in values:
        if isinstance(value, dict | list):
            inner.append(value)
        else:
            _check_leaf(value, name)
    return inner


def _check_leaf(value: Any, name: str) -> None:
    if isinstance(value, str):
        _check_text(value, name)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not _LEAST_INTEGER <= value <= _MOST_INTEGER:
            raise BadRequest(f"{name} holds an integer beyond 64 bits", param=name)
    elif not (isinstance(value, float) and math.isfinite(value)):
        raise BadRequest(f"{name} holds a value that JSON does not know", param=name)


def _check_text(text: Any, name: str) -> None:
    if not isinstance(text, str):
        raise BadRequest(f"{name} has a field whose name is no string", param=name)
    if "\0" in text:
        raise BadRequest(f"{name} holds a NUL character", param=name)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} holds half a character (a lone surrogate)", param=name) from None


def _told(data: Mapping[str, Any]) -> list[str]:
    """Every name of a field, and every value behind the end of its field's name: what stands beside
    a word like password is looked at more closely."""
    texts: list[str] = []
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        field, value = waiting.pop()
        if isinstance(value, Mapping):
            texts += value
            waiting += ((field if name in _CARRIERS else name, one) for name, one in value.items())
        elif isinstance(value, list | tuple):
            waiting += ((field, one) for one in value)
        else:
            texts.append(f"{field[-_NAME_END:]}: {value}")
    return texts
