"""The promises of an answer, checked from the outside: only what was posted and what came back.

Promises 1 to 3 of DESIGN section 2, the place of the memory message and of recall blocks, and the
budget. What this file does not use: the history, rounds, plan or prices of the product.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from memtree.history.message import Message
from memtree.text import tokens
from tests import verbatim

SYSTEM = ("system", "developer")
RESULTS = ("tool", "function")
THRESHOLD = 10_000
OVERHEAD = 4
MOST = 4  # times a soft target: further it never grows, but for a large newest round
OPENING, CLOSING = "<recalled_context>", "</recalled_context>"


@dataclass(slots=True)
class Tally:
    """Counts of checks, and each broken promise with the place where it broke."""

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
    bare: tuple[Message, ...]  # `kept` without recall blocks: posted messages where they match
    blocks: tuple[str, ...]  # the recall block of each kept message, empty where it has none
    preamble: str = ""  # the client's standing context before the memory text

    @classmethod
    def of(cls, raws: Sequence[bytes], posted: Sequence[Message]) -> Reply:
        messages = tuple(map(Message, raws))
        at = next((i for i, m in enumerate(messages) if m.role not in SYSTEM), len(messages))
        text = messages[at].text if at < len(messages) else ""
        begins = text.find("<context_memory>\n")  # behind the client's preamble, if any
        memory = text[begins:] if begins >= 0 and text.endswith("</context_memory>") else None
        preamble = text[:begins] if memory else ""
        kept = messages if memory is None else messages[at + 1 :]
        pairs = list(_aligned(kept, posted))
        bare, blocks = tuple(one for one, _ in pairs), tuple(block for _, block in pairs)
        return cls(messages, memory, kept, bare, blocks, preamble)

    @property
    def visible(self) -> str:
        """Everything that the model sees before the text of the newest message."""
        before = [m.text for m in self.messages[:-1] if m.role not in SYSTEM]
        return "\n".join([*before, *self.blocks[-1:]])

    @property
    def unblocked(self) -> list[bytes]:
        """Messages that would have been sent without recall blocks."""
        front = self.messages[: len(self.messages) - len(self.kept)]
        return [m.raw for m in (*front, *self.bare)]


def _aligned(kept: Sequence[Message], posted: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """Each kept message as it was posted, and its recall block."""
    own = [m for m in posted if m.role not in SYSTEM]
    left = sum(m.role not in SYSTEM for m in kept)
    for message in kept:
        block = None
        if message.role not in SYSTEM:
            origin = own[-left] if left <= len(own) else message
            block, left = recalled(message, origin), left - 1
        yield (message, "") if block is None else (origin, block)


def recalled(message: Message, posted: Message) -> str | None:
    """The recall block in front of the posted text, behind it in a result; empty where the message
    is the posted one, None where it is neither."""
    if message.raw == posted.raw:
        return ""
    if message.role != posted.role or message.role not in ("user", "tool"):
        return None
    new, old, behind = message.content, posted.content, message.role == "tool"
    if isinstance(new, str) and isinstance(old, str):
        same = new.startswith(f"{old}\n\n") if behind else new.endswith(f"\n\n{old}")
        block = (new[len(old) + 2 :] if behind else new[: len(new) - len(old) - 2]) if same else ""
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old) + 1:
        own, rest = (new[-1], new[:-1]) if behind else (new[0], new[1:])
        block = own.get("text", "").strip("\n") if rest == old and own.get("type") == "text" else ""
    else:
        return None
    others = [(k, v) for k, v in message.fields.items() if k != "content"]
    same = others == [(k, v) for k, v in posted.fields.items() if k != "content"]
    whole = block.startswith(OPENING) and block.endswith(CLOSING)
    return block if same and whole else None


def violations(
    posted: Sequence[Message],
    raws: Sequence[bytes],
    explain: Mapping[str, Any],
    target: int,
    *,
    hard: bool = True,
) -> list[str]:
    """Broken promises, one line each. A soft target may be exceeded, within bounds."""
    reply = Reply.of(raws, posted)
    if [m.raw for m in reply.messages] == [m.raw for m in posted]:
        return list(_passed(posted, target)) if hard else []
    return [
        *_system(posted, reply),
        *_recent(posted, reply),
        *_pairs(reply),
        *_quotes(posted, reply, explain),
        *_blocks(posted, reply),
        *_budget(posted, reply, target, hard),
    ]


def size(messages: Sequence[Message]) -> int:
    """Tokens of messages; system messages are free."""
    return sum(weight(message.raw) for message in messages if message.role not in SYSTEM)


_weights: dict[bytes, int] = {}


def weight(raw: bytes) -> int:
    """Tokens of one message: contents and calls, and four for the message."""
    key = sha256(raw).digest()
    found = _weights.get(key)
    if found is None:
        message = Message(raw)
        found = OVERHEAD + sum(tokens.count(part.get("text") or "") for part in message.parts)
        found += sum(tokens.count(c.name) + tokens.count(c.arguments) for c in message.calls)
        _weights[key] = found
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
    kept = [m for m in reply.bare if reply.memory is not None or m.role not in SYSTEM]
    own = posted if reply.memory is not None else [m for m in posted if m.role not in SYSTEM]
    if not kept or kept[-1].raw != posted[-1].raw:
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
    shown = "\n".join([reply.memory, *reply.blocks])
    for one in excerpts:
        place = f"excerpt of message {one['message']} {one['part']}[{one['start']}:{one['end']}]"
        if not 0 <= one["message"] < border:
            yield f"{place} is not before the recent part ({border})"
            continue
        message = posted[one["message"]]
        piece = named_part(message.fields, one["part"])[one["start"] : one["end"]]
        if sha256(piece.encode("utf-8", "surrogatepass")).hexdigest() != one["sha256"]:
            yield f"{place}: sha256 differs from the posted text"
        elif piece.strip() and piece not in shown:
            yield f"{place} stands neither in the memory message nor in a recall block"
        elif piece.strip() and not labelled(one["message"], message.role, shown):
            yield f"{place} has no label"


def labelled(number: int, role: str, shown: str) -> bool:
    """Return True if a label has this number, alone or in its range, with the role or a speaker's
    name."""
    for first, last, said in _LABEL.findall(shown):
        if int(first) <= number <= int(last or first) and (said == role or _NAMED.match(said)):
            return True
    return False


_LABEL = re.compile(r"^\u00b6(\d+)(?:-(\d+))? (?:\([^()\n]{1,20}\) )?([^\n,;]*)", re.MULTILINE)
_NAMED = re.compile(r"\[|[^:]{1,80}:|user|assistant|tool|function")


def named_part(fields: Mapping[str, Any], part: str) -> str:
    """The string at a place such as `tool_calls[0].function.arguments.a`; empty where none is."""
    value: Any = fields
    for step in re.findall(r"[^.\[\]]+", part):
        if isinstance(value, str):  # the arguments of a call
            value = json.loads(value)
        value = value[int(step)] if isinstance(value, list) else value[step]
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _blocks(posted: Sequence[Message], reply: Reply) -> Iterator[str]:
    """Yield the faults of blocks: their quotations must be verbatim, labelled, and from before the
    recent part."""
    border = len(posted) - len(reply.kept)
    for at, block in enumerate(reply.blocks):
        place = f"recall block of message {border + at}"
        if block and reply.memory is None:
            yield f"{place} and no memory message"
        elif block:
            found = verbatim.in_block(block, [m.fields for m in posted], range(border))
            yield from (f"{place}: {one}" for one in found)


def _budget(posted: Sequence[Message], reply: Reply, target: int, hard: bool) -> Iterator[str]:
    total = size(reply.messages) - tokens.count(reply.preamble)
    newest = size(newest_round(posted))
    least = max(target // 4, min(1_000, target // 2))  # of the memory message
    if total > (max(target, newest + least) if hard else max(MOST * target, target + newest)):
        yield f"{total} tokens at a target of {target} (newest round {newest})"


def describe(broken: Sequence[str], limit: int = 40) -> str:
    """The first of them, for a person."""
    more = f"\n  and {len(broken) - limit} more" if len(broken) > limit else ""
    return "\n".join(f"  BROKEN {one}" for one in broken[:limit]) + more
