"""Make a structured memory as it is stored, and refuse data that cannot be stored.

Searches find the memory by its text, word for word and by meaning:

>>> print(structured_text("UserProfile", {"favoriteColor": "blue", "home_town": {"name": "Oslo"}}))
user profile
favorite color: blue
home town name: Oslo
>>> structured_text("fact", {"text": "The port is 8090"})
'The port is 8090'

Fields stand in the order of their names, so that equal data has equal text. The data itself is kept
beside the text: nothing is read back out of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec

from memtree.agents.agent_memory import StructuredWrite
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.checked_fields import refuse_secrets
from memtree.memories.memory import MAX_TEXT_CHARS, USER_CATEGORIES, MemoryFields, NewMemory
from memtree.memories.memory_topics import trust_of
from memtree.memories.search.vector_bytes import packed_terms
from memtree.text.normal_form import text_hash

TEXT = "text"  # the one field of a memory without a schema that is a sentence
_LONGEST_NAME = 200  # characters of a field's name that are read
_LONGEST_PATH = 400  # characters before a value: the names of the fields that it stands in
# Where a new word begins inside `camelCase` and behind `HTTPServer`s capitals.
BORDER = re.compile(
    r"(?<=[a-z0-9ß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)
_CONTAINERS = (Mapping, list, tuple)
_NO_WORD = re.compile(r"[\W_]+")


def structured_text(kind: str, data: Mapping[str, Any], most: int = MAX_TEXT_CHARS) -> str:
    """Never empty where `kind` is not; at most `most` characters. Fields that hold nothing are
    left out. Takes time in proportion to the data, and to `most` where that is less."""
    sentence = data.get(TEXT)
    if kind in USER_CATEGORIES and len(data) == 1 and isinstance(sentence, str):
        return sentence.strip()[:most].rstrip() or kind
    lines: list[str] = []
    room = most
    for line in chain([words_of(kind)], _lines(data)):
        if line:
            lines.append(line[:room])
            room -= len(line) + 1
        if room <= 0:
            break
    return "\n".join(lines).strip() or kind.strip()[:most]


def words_of(name: str) -> str:
    """The words of an identifier, in lower case.

    >>> words_of("lastHTTPError_code"), words_of("due-date")
    ('last http error code', 'due date')
    """
    spaced = BORDER.sub(" ", name[:_LONGEST_NAME])
    return _NO_WORD.sub(" ", spaced).strip().lower()


def leaf_text(value: object) -> str:
    """A value that is neither object nor array, as words; "" for null.

    >>> leaf_text(True), leaf_text(2.50), leaf_text(" to  do ")
    ('yes', '2.5', 'to do')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    waiting: list[tuple[str, Any]] = _fields("", data)
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += _fields(path, value)
        elif isinstance(value, list | tuple):
            waiting += [(path, item) for item in reversed(value) if isinstance(item, _CONTAINERS)]
            leaves = [leaf_text(item) for item in value if not isinstance(item, _CONTAINERS)]
            yield _line(path, ", ".join(filter(None, leaves)))
        else:
            yield _line(path, leaf_text(value))


def _fields(path: str, data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The last one first, for a stack."""
    return [
        (f"{path} {words_of(name)}".strip()[-_LONGEST_PATH:], data[name])
        for name in sorted(data, reverse=True)
    ]


def _line(path: str, text: str) -> str:
    if not text:
        return ""
    return f"{path}: {text}" if path else text


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
    said["tainted"] = trust_of(text, given, said["category"]).tainted
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
    """Check what stands in an object or array; return the objects and arrays inside of it."""
    if isinstance(outer, dict):
        for key in outer:
            _check_text(key, name)
    inner = []
    for value in outer.values() if isinstance(outer, dict) else outer:
        if isinstance(value, dict | list):
            inner.append(value)
        elif isinstance(value, str):
            _check_text(value, name)
        elif isinstance(value, int):
            if not _LEAST_INTEGER <= value <= _MOST_INTEGER:
                raise BadRequest(f"{name} holds an integer beyond 64 bits", param=name)
        elif value is not None and not (isinstance(value, float) and math.isfinite(value)):
            raise BadRequest(f"{name} holds a value that JSON does not know", param=name)
    return inner


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
