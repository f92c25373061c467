"""The text of a structured memory: what searches find it by, word for word and by meaning.

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

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from memtree.memories.memory import MAX_TEXT_CHARS, USER_CATEGORIES

TEXT = "text"  # the one field of a memory without a schema that is a sentence
_LONGEST_NAME = 200  # characters of a field's name that are read
_LONGEST_PATH = 400  # characters before a value: the names of the fields that it stands in
_SPOKEN = {True: "yes", False: "no"}
# Where a new word begins inside `camelCase` and behind `HTTPServer`s capitals.
_BORDER = re.compile(
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
    spaced = _BORDER.sub(" ", name[:_LONGEST_NAME])
    return _NO_WORD.sub(" ", spaced).strip().lower()


def leaf_text(value: object) -> str:
    """A value that is neither object nor array, as words; "" for null.

    >>> leaf_text(True), leaf_text(2.50), leaf_text(" to  do ")
    ('yes', '2.5', 'to do')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return _SPOKEN[value]
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
    return [(_joined(path, name), data[name]) for name in sorted(data, reverse=True)]


def _joined(path: str, name: str) -> str:
    return f"{path} {words_of(name)}".strip()[-_LONGEST_PATH:]


def _line(path: str, text: str) -> str:
    if not text:
        return ""
    return f"{path}: {text}" if path else text
