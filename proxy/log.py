"""One line an event: `http.request method=POST route=/v1/models status=200 ms=3.1`.

What never stands in a line: message text, query strings, credentials. A traceback is logged as
its frames and the types of its errors, since the text of an exception may quote what it read.
"""

from __future__ import annotations

import json
import logging
import traceback

logger = logging.getLogger("memtree")

Value = str | int | float | None


def event(name: str, **fields: Value) -> None:
    """Fields that are None are left out."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s", line(name, **fields))


def failure(name: str, error: BaseException, **fields: Value) -> None:
    """An error nobody expected, with its frames."""
    logger.error("%s\n%s", line(name, **fields), frames(error))


def line(name: str, **fields: Value) -> str:
    known = [f"{key}={_shown(value)}" for key, value in fields.items() if value is not None]
    return " ".join((name, *known))


def frames(error: BaseException) -> str:
    """The stack of an error and of those that caused it, without what the errors say."""
    found: list[str] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        found.append("".join(traceback.format_tb(at.__traceback__)) + type(at).__qualname__)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return "\ncaused by\n".join(found)


def _shown(value: Value) -> str:
    """As it is where it is one plain word, else quoted, so that a line stays a line."""
    shown = f"{value:.1f}" if isinstance(value, float) else str(value)
    plain = shown.isascii() and shown.isprintable() and not set(shown) & set(' "=\\')
    return shown if plain and shown else json.dumps(shown)
