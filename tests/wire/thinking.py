"""Signatures of thinking that know the prefix that made them, as those of newer models do.

`signature` makes one, `broken_thinking` checks those that a request sends. The prefix is tools,
system and all messages before, without thinking and cache markers. What a signature also holds is
the thinking that stood before its own when it was made, so that a request shows by itself whether
its thinking is one unbroken piece of what was made, and whether what was once left out came back.
A signature of anyone else says nothing and is taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.wire.messages.messages_blocks import THINKING
from tests.wire.rule_break import Fields, RuleBreak

_MADE = "bound"


@dataclass(frozen=True, slots=True)
class BoundSignature:
    """`own`: names the block. `before`: the thinking in front of it when it was made, "" for none.
    `prefix`, `text`: digests."""

    own: str
    before: str
    prefix: str
    text: str

    def __str__(self) -> str:
        return ".".join((_MADE, self.own, self.before, self.prefix, self.text))

    @classmethod
    def read(cls, raw: Any) -> BoundSignature | None:
        parts = raw.split(".") if isinstance(raw, str) else []
        return cls(*parts[1:]) if len(parts) == 5 and parts[0] == _MADE else None


def signature(body: Fields, text: str, made: Sequence[Fields] = ()) -> str:
    """Sign the thinking that answers this request. `made`: blocks of the same answer before it."""
    before, prefix = "", Prefix(body)
    for message in [*body["messages"], {"content": list(made)}]:
        for block in _thinking_of(message):
            if known := BoundSignature.read(_signed(block)):
                before = known.own
    for message in body["messages"]:
        prefix.add(message)
    own = _digest([prefix.digest(), before, text, len(made)])
    return str(BoundSignature(own, before, prefix.digest(), _digest(text)))


def broken_thinking(body: Fields, *, bound: bool = True) -> list[RuleBreak]:
    """`bound`: whether the model checks the prefix; `enabled` thinking is of models that do not."""
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled":
        bound = False
    return list(_broken_signatures(body, bound))


def _broken_signatures(body: Fields, bound: bool) -> Iterator[RuleBreak]:
    last: str | None = None
    prefix = Prefix(body)
    for index, message in enumerate(body["messages"]):
        for block in _thinking_of(message):
            known = BoundSignature.read(_signed(block))
            where = f"messages[{index}]"
            if known is None:
                continue
            if block["type"] == "thinking" and known.text != _digest(block["thinking"]):
                yield RuleBreak("thinking-altered", where)
            if bound and known.prefix != prefix.digest():
                yield RuleBreak("thinking-of-another-prefix", where)
            if last is not None and known.before != last:
                rule = "thinking-gap" if known.before else "thinking-came-back"
                yield RuleBreak(rule, where)
            last = known.own
        prefix.add(message)


class Prefix:
    """Prefix that a signature is bound to, message by message."""

    def __init__(self, body: Fields) -> None:
        """In front of the first message."""
        system = body.get("system")
        parts = [{"type": "text", "text": system}] if isinstance(system, str) else system or []
        start = _dump([_bare(body.get("tools") or []), _bare(parts)])
        self._hash = hashlib.blake2b(start, digest_size=9)

    def add(self, message: Fields) -> None:
        """A message of thinking alone counts as none, so that it may be left out."""
        rest = [_bare(one) for one in _blocks(message) if one.get("type") not in THINKING]
        if rest:
            self._hash.update(_dump([message.get("role"), rest]))

    def digest(self) -> str:
        return self._hash.hexdigest()


def _thinking_of(message: Fields) -> list[Fields]:
    return [block for block in _blocks(message) if block.get("type") in THINKING]


def _signed(block: Fields) -> Any:
    return block.get("signature" if block.get("type") == "thinking" else "data")


def _blocks(message: Fields) -> list[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or () if isinstance(block, dict)]


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(one) for key, one in value.items() if key != "cache_control"}
    return [_bare(one) for one in value] if isinstance(value, list) else value


def _dump(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _digest(value: Any) -> str:
    return hashlib.blake2b(_dump(value), digest_size=9).hexdigest()
