"""The text of a schema, read strictly: what two readers could take for two schemas is refused.

Raises `SchemaInvalid`, which says what is wrong or which limit it is over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from memtree.errors import SchemaInvalid

MAX_BYTES = 16_000  # of the text, in UTF-8
MAX_NESTING = 64  # objects and arrays in each other, values of `enum` and `const` included

_LEAST, _MOST = -(2**63), 2**64 - 1  # integers that every part of the store can hold


def schema_text(document: str | Mapping[str, Any]) -> str:
    """The JSON text of a schema that came as text or as an object."""
    if isinstance(document, str):
        return document
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise SchemaInvalid("the schema is not valid JSON", param="schema") from None


def parsed(text: str) -> Any:
    """The decoded schema."""
    _check_size(text)
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise SchemaInvalid(_nested(), param="schema") from None
    except json.JSONDecodeError as error:
        raise SchemaInvalid(
            f"the schema is not valid JSON (line {error.lineno}, column {error.colno})",
            param="schema",
        ) from None
    if _deeper(document, MAX_NESTING):
        raise SchemaInvalid(_nested(), param="schema")
    return document


def _nested() -> str:
    return f"the schema is nested deeper than {MAX_NESTING} levels of JSON"


def _check_size(text: str) -> None:
    if len(text) <= MAX_BYTES:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise SchemaInvalid(
                "the schema holds half a character (a lone surrogate)", param="schema"
            ) from None
        if size <= MAX_BYTES:
            return
    raise SchemaInvalid(f"the schema has more than {MAX_BYTES:,} bytes", param="schema")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise SchemaInvalid("a name is given twice in one object of the schema", param="schema")
    for name in members:
        _check_text(name)
    for value in members.values():
        _check_text(value)
    return members


def _check_text(value: object) -> None:
    """An escape may make half a character, which no JSON text holds itself."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str) and not item.isascii():
            try:
                item.encode()
            except UnicodeEncodeError:
                raise SchemaInvalid(
                    "the schema holds half a character (a lone surrogate)", param="schema"
                ) from None


def _integer(digits: str) -> int:
    if len(digits) > 20 or not _LEAST <= (value := int(digits)) <= _MOST:
        raise SchemaInvalid("the schema holds an integer of more than 64 bits", param="schema")
    return value


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise SchemaInvalid(
            "the schema holds a number that is too large for a double", param="schema"
        )
    return value


def _no_constant(name: str) -> NoReturn:
    raise SchemaInvalid(f"the schema is not valid JSON: {name} is no number", param="schema")


def _deeper(value: object, most: int) -> bool:
    level: list[object] = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return any(isinstance(each, dict | list) for each in level)


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
