"""The headers with which a chat request opts in to chat memory and names its chat.

>>> of("t", {"x-chat-id": "550e8400"}).owner
'550e8400'
>>> of("t", {"x-chat-id": "550e8400", "x-chat-memory": "off"})
"""

from __future__ import annotations

from collections.abc import Mapping

from memtree.memories.scope import Scope, checked_id
from memtree_proxy.http.headers import CHAT_HEADER, SWITCH_HEADER

_OFF = frozenset({"off", "false", "no", "0"})  # as in `memory_switch`


def of(tenant: str, headers: Mapping[str, str]) -> Scope | None:
    """Return the chat's scope, None if the request names no chat or switches its memory off. Raises
    `BadRequest` for an invalid id."""
    chat_id = headers.get(CHAT_HEADER)
    if chat_id is None or headers.get(SWITCH_HEADER, "").strip().lower() in _OFF:
        return None
    return Scope.of_chat(tenant, checked_id(chat_id.strip(), CHAT_HEADER))
