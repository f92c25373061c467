"""Decide whether a chat request wants memory, and find its model's name without our suffix.

>>> strip_suffix("m:online:memory-90")
Suffix(model='m:online', present=True, days=90)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from memtree.errors import BadRequest
from memtree.wire.json_body import Body
from memtree_proxy.http.headers import FLAG_HEADER, MEMORY_HEADER, TOOLS_HEADER

_SUFFIX = re.compile(r":memory(?:-([0-9]{1,9}))?(?=:|$)")
UNKNOWN_SWITCH = "unknown-switch"
# Words in the headers. Any other word counts as off in `MEMORY_HEADER`, which only this server
# reads, and is ignored in the others.
WORDS = {
    **dict.fromkeys(("on", "true", "yes", "1"), True),
    **dict.fromkeys(("off", "false", "no", "0"), False),
}


class Suffix(NamedTuple):
    model: str
    present: bool
    days: int | None


def strip_suffix(model: str) -> Suffix:
    match = _SUFFIX.search(model)
    if not match:
        return Suffix(model, False, None)
    days = int(match[1]) if match[1] else None
    return Suffix(model[: match.start()] + model[match.end() :], True, days)


def suffix_of(body: Body) -> Suffix:
    """Split our suffix off the model's name. A model that is not a string, or unreadable, has none:
    the upstream judges it."""
    try:
        model = body.value("model")
    except BadRequest:
        model = None
    return strip_suffix(model) if isinstance(model, str) else Suffix("", False, None)


def by_headers(headers: Mapping[str, str], default: bool) -> bool:
    """Decide by the headers alone, for a body that cannot be read."""
    return _decide([_switched(headers), _word(headers, FLAG_HEADER)], default)


def wanted(posted: bool | None, headers: Mapping[str, str], suffix: Suffix, default: bool) -> bool:
    """Decide if memory is on; an off wins over every on. `posted`: the body's `memory`."""
    answers = [
        _switched(headers),
        _word(headers, FLAG_HEADER),
        posted,
        suffix.present or None,
    ]
    return _decide(answers, default)


def recall_tools(headers: Mapping[str, str], default: bool) -> bool:
    """Return True if our tools may be offered to the model."""
    answer = _word(headers, TOOLS_HEADER)
    return default if answer is None else answer


def trouble(headers: Mapping[str, str]) -> str:
    """Return the reason for `x-memtree-reason` if `MEMORY_HEADER` has an unknown value, else ""."""
    said = headers.get(MEMORY_HEADER, "").strip()
    return UNKNOWN_SWITCH if said and _word(headers, MEMORY_HEADER) is None else ""


def _switched(headers: Mapping[str, str]) -> bool | None:
    return False if trouble(headers) else _word(headers, MEMORY_HEADER)


def _word(headers: Mapping[str, str], name: str) -> bool | None:
    return WORDS.get(headers.get(name, "").strip().lower())


def _decide(answers: list[bool | None], default: bool) -> bool:
    if False in answers:
        return False
    return True in answers or default
