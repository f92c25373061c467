"""Regular expressions that are compiled when they are first used.

Long ones take a millisecond to compile, and most commands and many servers never use them. Where
all of them were compiled at the start of the server they took a quarter of it.

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
    """Has all that the compiled pattern has. A mistake in it is found at its first use."""

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Only of what is not there yet: from the second use on methods are the pattern's own."""
        source = self._source if isinstance(self._source, str) else self._source()
        compiled = re.compile(source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern as `re.compile` does, at its first use. `source` may be a function that
    reads the words of the pattern: it is called then, too."""
    return cast("re.Pattern[str]", LazyPattern(source, flags))
