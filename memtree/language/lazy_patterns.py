"""Regular expressions that are compiled when they are first used.

A long pattern takes a millisecond to compile, and most commands and many servers never use it.
Compiling all of them at start took a quarter of the server's start-up time.

    >>> _DIGITS = lazily(r"[0-9]+")
    >>> _DIGITS.findall("3 of 12")
    ['3', '12']
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


class LazyPattern:
    """Stand-in with the attributes of the compiled pattern; errors in it appear at first use."""

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Compile at first use; later uses find the compiled pattern's own methods."""
        source = self._source if isinstance(self._source, str) else self._source()
        compiled = re.compile(source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern as `re.compile` does, at its first use. `source` may be a function that
    reads the words of the pattern: it is called then, too."""
    return cast("re.Pattern[str]", LazyPattern(source, flags))
