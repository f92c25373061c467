"""Write values as JavaScript does. Clients written in it put tool arguments and results into
requests by `JSON.stringify`, and an address is a hash of the exact characters.

    >>> stringify({"path": "a b", "10": 1.0, "9": None})
    '{"9":null,"10":1,"path":"a b"}'
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

# ECMA-262, WhiteSpace and LineTerminator: trim() removes these; str.strip() removes another set
_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_MAX_SAFE = 2**53
_MAX_INDEX = 2**32 - 2
_INDEX_DIGITS = 10


def trim(text: str) -> str:
    return text.strip(_BLANKS)


def stringify(value: Any) -> str:
    """Return `JSON.stringify(value)` for a value read by `json.loads`."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int) and abs(value) <= _MAX_SAFE:
        return str(value)
    if isinstance(value, int | float):
        return _number(_double(value))
    if isinstance(value, list):
        return f"[{','.join(stringify(item) for item in value)}]"
    pairs = (
        f"{json.dumps(key, ensure_ascii=False)}:{stringify(item)}" for key, item in _ordered(value)
    )
    return f"{{{','.join(pairs)}}}"


def cut_middle(text: str, limit: int, mark: Callable[[int], str]) -> str:
    """Cut the middle out of a text longer than `limit` UTF-16 units and put `mark(units cut)`
    there.

    Mirrors Cline's cut: the mark is measured twice, since the number in it decides how much room
    the ends have. A character that is cut in two becomes U+FFFD, as when Cline writes the request.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    size = len(units) // 2
    if size <= limit:
        return text
    room = max(0, (limit - len(mark(size - limit))) // 2)
    sign = mark(max(0, size - room * 2))
    kept = max(0, (limit - len(sign)) // 2)
    tail = units[len(units) - kept * 2 :]
    return _text(units[: kept * 2]) + sign + _text(tail)


def shortened(value: Any, limit: int, mark: Callable[[int], str]) -> Any:
    """Return the value with every string in it cut to `limit`, except in images ({type, data,
    mediaType})."""
    if isinstance(value, str):
        return cut_middle(value, limit, mark)
    if isinstance(value, list):
        return [shortened(item, limit, mark) for item in value]
    if isinstance(value, dict) and not is_image(value):
        return {key: shortened(item, limit, mark) for key, item in value.items()}
    return value


def is_image(value: Any) -> bool:
    """Return True if the value is an image in the form that Cline stores."""
    return (
        isinstance(value, dict)
        and value.get("type") == "image"
        and isinstance(value.get("data"), str)
        and isinstance(value.get("mediaType"), str)
    )


def well_formed(text: str) -> str:
    """Return the text with U+FFFD in place of every unpaired surrogate."""
    if text.isascii():
        return text
    return _text(text.encode("utf-16-le", "surrogatepass"))


def _text(units: bytes) -> str:
    return units.decode("utf-16-le", "replace")


def _ordered(fields: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields in JavaScript's order: array indexes ascending, then the others as they
    were set."""
    return sorted(
        fields.items(), key=lambda item: (0, int(item[0])) if _is_index(item[0]) else (1, 0)
    )


def _is_index(key: str) -> bool:
    if not (len(key) <= _INDEX_DIGITS and key.isascii() and key.isdecimal()):
        return False
    return str(int(key)) == key and int(key) <= _MAX_INDEX


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _number(value: float) -> str:
    """Return `Number::toString` (ECMA-262 6.1.6.1.20): the shortest digits, which Python finds as
    well."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    shown = "".join(map(str, digits))
    point = len(shown) + int(exponent)  # position of the decimal point in the digits
    minus = "-" if sign else ""
    if len(shown) <= point <= 21:
        return f"{minus}{shown}{'0' * (point - len(shown))}"
    if 0 < point <= 21:
        return f"{minus}{shown[:point]}.{shown[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{shown}"
    fraction = f".{shown[1:]}" if len(shown) > 1 else ""
    return f"{minus}{shown[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
