"""The `usage` of several rounds, added up.

>>> added({"total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}, {"total_tokens": 4})
{'total_tokens': 7, 'prompt_tokens_details': {'cached_tokens': 1}}
"""

from __future__ import annotations

from typing import Any


def added(earlier: Any, later: Any) -> Any:
    """Add two usage objects field by field: numbers are summed; of other values the later one is
    kept, if there is one."""
    if isinstance(earlier, dict) and isinstance(later, dict):
        names = [*earlier, *(name for name in later if name not in earlier)]
        return {name: added(earlier.get(name), later.get(name)) for name in names}
    if _is_number(earlier) and _is_number(later):
        return earlier + later
    return earlier if later is None else later


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
