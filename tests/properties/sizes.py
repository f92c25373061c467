"""Histories of given sizes, for tests of pure rules: what a message says is how large it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memtree.history.chat_history import History, nothing_read, read
from memtree.history.message import MESSAGE_OVERHEAD, Message, Volatile


def sized(*rounds: tuple[Any, ...]) -> History:
    """Rounds as (role, tokens), and ("tools", tokens of the call, tokens of each result ...)."""
    return read("t", _messages(rounds), Volatile(), count=_size)


def growing(rounds: Iterable[tuple[Any, ...]]) -> Iterator[History]:
    """Yield the history after each round; every message is read only once or twice."""
    history, messages = nothing_read("t", Volatile()), list[Message]()
    for one in rounds:
        messages += _messages([one])
        history = history.first(history.length).extended(messages, count=_size)
        yield history


def _size(text: str) -> int:
    return int(text or 0)


def _messages(rounds: Iterable[tuple[Any, ...]]) -> list[Message]:
    made: list[dict[str, Any]] = []
    for role, size, *results in rounds:
        if role != "tools":
            made.append({"role": role, "content": str(size - MESSAGE_OVERHEAD)})
            continue
        body = {"name": "0", "arguments": "0"}
        calls = [{"id": str(n), "type": "function", "function": body} for n in range(len(results))]
        own = size - (1 + len(results)) * MESSAGE_OVERHEAD  # each call costs its overhead, too
        made.append({"role": "assistant", "content": str(own), "tool_calls": calls})
        made += [
            {"role": "tool", "tool_call_id": str(n), "content": str(result - MESSAGE_OVERHEAD)}
            for n, result in enumerate(results)
        ]
    return [Message.of(one) for one in made]


def dialogue(turns: int, user: int = 100, assistant: int = 900) -> History:
    """`turns` messages of user and assistant in turn, the user's first."""
    sizes = (("user", user), ("assistant", assistant))
    return sized(*[sizes[n % 2] for n in range(turns)])
