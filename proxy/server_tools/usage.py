"""What several rounds used, as one.

>>> added({"total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}, {"total_tokens": 4})
{'total_tokens': 7, 'prompt_tokens_details': {'cached_tokens': 1}}
"""

from __future__ import annotations

from typing import Any


def added(one: Any, other: Any) -> Any:
    """Numbers added, objects field by field; of all else the later one, where there is one."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [*one, *(name for name in other if name not in one)]
        return {name: added(one.get(name), other.get(name)) for name in names}
    if _is_number(one) and _is_number(other):
        return one + other
    return one if other is None else other


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
