"""Decide whether a chat request wants memory, and of which kind; read our suffix of its model.

>>> strip_suffix("m:online:memory-90")
Suffix(model='m:online', present=True, days=90)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from memtree.context.answer_state import Reason
from memtree.errors import BadRequest
from memtree.history.json_body import Body
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.http.headers import (
    CHAT_HEADER,
    FLAG_HEADER,
    MEMORY_HEADER,
    SWITCH_HEADER,
    TOOLS_HEADER,
    USER_SWITCH_HEADER,
    own_value,
    own_values,
)

_SUFFIX = re.compile(r":memory(?:-([0-9]{1,9}))?(?=:|$)")
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


def by_headers(headers: Mapping[str, str]) -> tuple[bool | None, str]:
    """Return what the headers say of memory, None if nothing, and a reason for
    `x-memtree-reason`."""
    words = _words(headers, MEMORY_HEADER)
    if len(words) > 1 or None in words:
        return False, Reason.UNKNOWN_SWITCH
    return wanted(*words, *_words(headers, FLAG_HEADER)), ""


def wanted(*answers: bool | None, default: bool | None = None) -> bool | None:
    """Decide if memory is on; an off wins over every on. `answers`: of the headers, of the body's
    field, of the model's suffix; None for no answer."""
    return False if False in answers else True in answers or default


def recall_tools(headers: Mapping[str, str], default: bool) -> bool:
    """Return True if our tools may be offered to the model."""
    return bool(wanted(*_words(headers, TOOLS_HEADER), default=default))


def chat_of(tenant: str, headers: Mapping[str, str]) -> Scope | None:
    """Return the scope of the chat that opts in to chat memory, None if the request names no chat
    or switches its memory off. Raises `BadRequest` for an invalid id.

    >>> chat_of("t", {"x-chat-id": "550e8400"}).owner
    '550e8400'
    >>> chat_of("t", {"x-chat-id": "550e8400", "x-chat-memory": "off"})
    """
    if CHAT_HEADER not in headers or False in _words(headers, SWITCH_HEADER):
        return None
    return Scope.of_chat(tenant, checked_id(own_value(headers, CHAT_HEADER), CHAT_HEADER))


def of_user(headers: Mapping[str, str], posted: bool | None) -> bool | None:
    """Return whether the memories of the user are wanted; None if neither the header nor the body's
    field, `posted`, says so.

    >>> of_user({"x-user-memory": "off"}, True), of_user({"x-user-memory": "on"}, None)
    (False, True)
    """
    return wanted(*_words(headers, USER_SWITCH_HEADER), posted)


def _words(headers: Mapping[str, str], name: str) -> set[bool | None]:
    """Return what the words of a header mean, which may be repeated; None for unknown ones."""
    if name not in headers:
        return set()
    said = ",".join(own_values(headers, name)).lower()
    if said in WORDS:
        return {WORDS[said]}
    return {WORDS.get(word) for word in map(str.strip, said.split(",")) if word}
