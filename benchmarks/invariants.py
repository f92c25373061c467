"""The promises of an answer, checked from the outside: only what was posted and what came back.

Promises 1 to 3 of DESIGN section 2, the place of the memory message, and the budget. What this
file does not use: the history, rounds, plan or prices of the product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from memtree import tokens
from memtree.message import Message

SYSTEM = ("system", "developer")
RESULTS = ("tool", "function")
THRESHOLD = 10_000
OVERHEAD = 4


@dataclass(slots=True)
class Tally:
    """What was checked, and each broken promise with the place where it broke."""

    answers: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, where: str, found: Sequence[str]) -> None:
        self.answers += 1
        self.broken += [f"{where}: {one}" for one in found]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer taken apart. `memory` is None where nothing was compressed."""

    messages: tuple[Message, ...]
    memory: str | None
    kept: tuple[Message, ...]  # what follows the memory message, system messages included

    @classmethod
    def of(cls, raws: Sequence[bytes]) -> Reply:
        messages = tuple(map(Message, raws))
        at = next((i for i, m in enumerate(messages) if m.role not in SYSTEM), len(messages))
        text = messages[at].text if at < len(messages) else ""
        if at < len(messages) and text.startswith("<context_memory>"):
            return cls(messages, text, messages[at + 1 :])
        return cls(messages, None, messages)

    @property
    def visible(self) -> str:
        """Everything that the model sees before the newest message."""
        return "\n".join(m.text for m in self.messages[:-1] if m.role not in SYSTEM)


def violations(
    posted: Sequence[Message], raws: Sequence[bytes], explain: Mapping[str, Any], target: int
) -> list[str]:
    """Broken promises, one line each. `target` is a hard one."""
    reply = Reply.of(raws)
    if [m.raw for m in reply.messages] == [m.raw for m in posted]:
        return list(_passed(posted, target))
    return [
        *_system(posted, reply),
        *_recent(posted, reply),
        *_pairs(reply),
        *_quotes(posted, reply, explain),
        *_budget(posted, reply, target),
    ]


def size(messages: Sequence[Message]) -> int:
    """Tokens of contents and calls, and four for each message; system messages are free."""
    found = 0
    for message in messages:
        if message.role not in SYSTEM:
            calls = sum(tokens.count(c.name) + tokens.count(c.arguments) for c in message.calls)
            found += (
                OVERHEAD + calls + sum(tokens.count(p.get("text") or "") for p in message.parts)
            )
    return found


def newest_round(messages: Sequence[Message]) -> Sequence[Message]:
    """The newest message, and what it belongs to: a tool result's call and its siblings."""
    start = len(messages) - 1
    while start and messages[start].role in (*RESULTS, *SYSTEM):
        start -= 1
    return messages[start:]


def _passed(posted: Sequence[Message], target: int) -> Iterator[str]:
    total = size(posted)
    if total >= THRESHOLD and total > target and size(newest_round(posted)) <= target:
        yield f"{total} tokens passed through at a target of {target}"


def _system(posted: Sequence[Message], reply: Reply) -> Iterator[str]:
    if [m.raw for m in posted if m.role in SYSTEM] != [
        m.raw for m in reply.messages if m.role in SYSTEM
    ]:
        yield "system messages are not the posted ones, byte for byte"


def _recent(posted: Sequence[Message], reply: Reply) -> Iterator[str]:
    """A suffix of what was posted, from a round border on, the newest message in it."""
    kept = [m for m in reply.kept if reply.memory is not None or m.role not in SYSTEM]
    own = posted if reply.memory is not None else [m for m in posted if m.role not in SYSTEM]
    if not kept or reply.messages[-1].raw != posted[-1].raw:
        yield "the newest message is not whole and last"
    elif [m.raw for m in kept] != [m.raw for m in own[len(own) - len(kept) :]]:
        yield "the recent part is no suffix of what was posted"
    elif (first := next((m for m in kept if m.role not in SYSTEM), None)) is None:
        yield "nothing of the history was kept"
    elif first.role in RESULTS:
        yield "the recent part begins within a round"


def _pairs(reply: Reply) -> Iterator[str]:
    """A tool result stands after its call; a call is answered unless it is the newest message."""
    waiting: set[str] = set()
    for message in reply.kept:
        if message.role == "tool":
            id_ = str(message.fields["tool_call_id"])
            if id_ not in waiting:
                yield f"orphan tool message {id_}"
            waiting.discard(id_)
        elif message.role not in SYSTEM:
            if waiting:
                yield f"calls without an answer: {sorted(waiting)}"
            waiting = {call.id for call in message.calls if call.id}
    if waiting and reply.messages[-1].role != "assistant":
        yield f"calls without an answer at the end: {sorted(waiting)}"


def _quotes(posted: Sequence[Message], reply: Reply, explain: Mapping[str, Any]) -> Iterator[str]:
    excerpts = explain.get("excerpts", [])
    if reply.memory is None:
        if excerpts:
            yield f"{len(excerpts)} excerpts and no memory message"
        return
    border = len(posted) - len(reply.kept)
    for one in excerpts:
        place = f"excerpt of message {one['message']} [{one['start']}:{one['end']}]"
        if not 0 <= one["message"] < border:
            yield f"{place} is not before the recent part ({border})"
            continue
        message = posted[one["message"]]
        piece = message.text[one["start"] : one["end"]]
        if sha256(piece.encode("utf-8", "surrogatepass")).hexdigest() != one["sha256"]:
            yield f"{place}: sha256 differs from the posted text"
        elif piece.strip() and piece not in reply.memory:
            yield f"{place} does not stand in the memory message"
        elif piece.strip() and f"[{one['message']} {message.role}] " not in reply.memory:
            yield f"{place} has no label"


def _budget(posted: Sequence[Message], reply: Reply, target: int) -> Iterator[str]:
    total = size(reply.messages)
    newest = size(newest_round(posted))
    if total > max(target, newest):
        yield f"{total} tokens at a target of {target} (newest round {newest})"


def describe(broken: Sequence[str], limit: int = 40) -> str:
    """The first of them, for a person."""
    more = f"\n  and {len(broken) - limit} more" if len(broken) > limit else ""
    return "\n".join(f"  BROKEN {one}" for one in broken[:limit]) + more
