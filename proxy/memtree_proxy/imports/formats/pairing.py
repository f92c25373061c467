"""Make incomplete histories valid: every tool call is answered, directly behind it.

A session that was killed lacks results, and a condensed session has results without calls. A call
without a result therefore gets a result that says so, a result further down is moved up to its
call, and a result without a call becomes a user message, since its text is worth keeping.

    >>> lone = {"role": "tool", "tool_call_id": "a", "content": "42"}
    >>> paired([lone], lambda name: "lost")
    [{'role': 'user', 'content': '[tool result]\\n42'}]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from memtree_proxy.imports.conversation import Fields, words

NAME_CHARS = 256  # of a tool's name in a result's text: many calls may have one long name
NO_RESULT = "[no result was recorded]"


def unrecorded(name: str) -> str:
    """Return the text for the missing result of a call to `name`."""
    return NO_RESULT


def paired(messages: Iterable[Fields], missing: Callable[[str], str] = unrecorded) -> list[Fields]:
    """Return the messages with a result behind each call. `missing`: makes the text of a missing
    result from the tool's name."""
    done: list[Fields] = []
    turn = _Turn()
    for message in messages:
        if message["role"] == "assistant":
            done += turn.close(missing)
            turn = _Turn(message)
        else:
            turn.add(message)
    return done + turn.close(missing)


class _Turn:
    """An assistant message, the results of its calls in order of arrival, and the messages that
    followed."""

    def __init__(self, head: Fields | None = None) -> None:
        self._head = [head] if head else []
        calls = (head or {}).get("tool_calls") or []
        self._names = {call["id"]: call["function"]["name"] for call in calls}
        self._open = Counter(call["id"] for call in calls)
        self._results: list[Fields] = []
        self._others: list[Fields] = []

    def add(self, message: Fields) -> None:
        if message["role"] != "tool":
            self._others.append(message)
        elif self._open[message["tool_call_id"]] > 0:
            self._open[message["tool_call_id"]] -= 1
            self._results.append(message)
        else:
            self._others.append({"role": "user", "content": f"[tool result]\n{words(message)}"})

    def close(self, missing: Callable[[str], str]) -> list[Fields]:
        lost = [
            {"role": "tool", "tool_call_id": id_, "content": missing(self._names[id_][:NAME_CHARS])}
            for id_ in self._open.elements()
        ]
        return [*self._head, *self._results, *lost, *self._others]
