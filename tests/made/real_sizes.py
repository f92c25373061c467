"""How many bytes values really take, to compare with what a cache estimates."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import msgspec
import numpy as np

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def real_size(value: Any) -> int:
    """Measure a value and all that it refers to, each counted once; what all processes have anyway
    (types, functions, small numbers, None) is left out."""
    seen: set[int] = set()
    waiting, total = [value], 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen or each is None or isinstance(each, (*_SHARED, bool)):
            continue
        seen.add(id(each))
        if isinstance(each, int) and -5 <= each <= 256:
            continue
        total += sys.getsizeof(each)
        waiting.extend(_parts(each))
    return total


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        if value.base is not None:
            yield value.base
    elif isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, tuple | list | set | frozenset):
        yield from value
    elif isinstance(value, msgspec.Struct):
        yield from (getattr(value, name) for name in value.__struct_fields__)
    for kind in type(value).__mro__:
        names = vars(kind).get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            full = f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") else name
            if hasattr(value, full) and not isinstance(value, msgspec.Struct):
                yield getattr(value, full)
    yield from getattr(value, "__dict__", {}).values()
