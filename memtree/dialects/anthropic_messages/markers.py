"""Cache markers by the rules of this API: at most four in a request, of which a `cache_control`
beside the messages is one, and none that lives an hour behind one that lives five minutes.

The core says which marker of the client the memory message ends with; here it is fitted between
those that are really sent, or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from memtree.conversation.cache_control import MOST

_HOUR = "1h"


def fitted(
    marker: Mapping[str, Any] | None, before: Iterable[bytes], behind: Iterable[bytes], top: Any
) -> Mapping[str, Any] | None:
    """The marker of the memory text between what is sent before and behind it (raw JSON); None
    where there is no place for one. `top`: the one beside the messages, which marks their end."""
    if marker is None:
        return None
    hours_before = [hour for raw in before for hour in _hours(raw)]
    hours_behind = [hour for raw in behind for hour in _hours(raw)]
    if isinstance(top, dict):
        hours_behind.append(top.get("ttl") == _HOUR)
    if len(hours_before) + len(hours_behind) >= MOST:
        return None
    short, long = not all(hours_before), any(hours_behind)
    if short and long:
        return None
    if short and marker.get("ttl") == _HOUR:
        return {name: value for name, value in marker.items() if name != "ttl"}
    return {**marker, "ttl": _HOUR} if long else marker


def _hours(raw: bytes) -> Iterator[bool]:
    """Yield for each marker whether it lives an hour."""
    if b'"cache_control"' not in raw:
        return
    value = msgspec.json.decode(raw)
    waiting = value if isinstance(value, list) else [value]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict):
            continue
        if isinstance(marker := one.get("cache_control"), dict):
            yield marker.get("ttl") == _HOUR
        if isinstance(content := one.get("content"), list):
            waiting += content
