"""Histories of given sizes, for tests of pure rules: what a message says is how large it is."""

from __future__ import annotations

from typing import Any

from memtree.conversation.history import History, read
from memtree.conversation.message import MESSAGE_OVERHEAD, Message, Volatile


def sized(*rounds: tuple[Any, ...]) -> History:
    """Rounds as (role, tokens), and ("tools", tokens of the call, tokens of each result ...)."""
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
    messages = [Message.of(one) for one in made]
    return read("t", messages, Volatile(), count=lambda text: int(text or 0))


def dialogue(turns: int, user: int = 100, assistant: int = 900) -> History:
    """`turns` messages of user and assistant in turn, the user's first."""
    sizes = (("user", user), ("assistant", assistant))
    return sized(*[sizes[n % 2] for n in range(turns)])
