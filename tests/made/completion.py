"""A strict reading of a streamed completion, as the pickiest client would do it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from memtree_proxy.dialects.round_calls import ToolRound


@dataclass(slots=True)
class Completion:
    """Sum of a stream. `calls`: (id, name, arguments). `problems`: what no single completion may
    have."""

    content: str = ""
    finish: str | None = None
    usage: dict[str, Any] | None = None
    usages: int = 0
    roles: int = 0
    done: int = 0
    ids: set[str] = field(default_factory=set)
    created: set[int] = field(default_factory=set)
    fields: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    errors: list[Any] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    by_index: dict[int, list[str]] = field(default_factory=dict)

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        return [(id_, name, arguments) for id_, name, arguments in self.by_index.values()]

    @property
    def indices(self) -> list[int]:
        return list(self.by_index)


def completed(raw: bytes, *, partial: bool = False) -> Completion:
    """Read a stream. `partial`: it is no more than a piece of one."""
    found = Completion()
    for event in raw.replace(b"\r\n", b"\n").split(b"\n\n"):
        if not event.startswith(b"data:"):
            if event.strip() and not event.startswith(b":"):
                found.problems.append(f"no event: {event[:60]!r}")
            continue
        data = event[5:].strip()
        if found.done:
            found.problems.append("something follows [DONE]")
        if data == b"[DONE]":
            found.done += 1
            continue
        _chunk(found, json.loads(data))
    if partial or found.errors:
        return found
    if len(found.ids) != 1 or len(found.created) != 1:
        found.problems.append(f"ids {found.ids}, created {found.created}")
    if found.roles != 1:
        found.problems.append(f"{found.roles} roles")
    if sorted(found.by_index) != list(range(len(found.by_index))):
        found.problems.append(f"calls are numbered {sorted(found.by_index)}")
    if found.done != 1:
        found.problems.append(f"{found.done} times [DONE]")
    return found


def _chunk(found: Completion, chunk: dict[str, Any]) -> None:
    if chunk.get("error"):
        found.errors.append(chunk["error"])
        return
    found.ids.add(chunk["id"])
    found.created.add(chunk["created"])
    if chunk.get("usage"):
        found.usage, found.usages = chunk["usage"], found.usages + 1
    for choice in chunk["choices"]:
        if choice["index"] != 0:
            found.problems.append(f"a choice {choice['index']}")
        if found.finish is not None and any(choice["delta"].values()):
            found.problems.append("something follows the finish reason")
        _delta(found, choice["delta"])
        if choice.get("finish_reason") is not None:
            if found.finish is not None:
                found.problems.append("two finish reasons")
            found.finish = choice["finish_reason"]


def _delta(found: Completion, delta: dict[str, Any]) -> None:
    found.roles += "role" in delta
    for name, value in delta.items():
        if name == "content":
            found.content += value if isinstance(value, str) else ""
        elif name == "tool_calls":
            for piece in value:
                _piece(found, piece)
        elif isinstance(value, list):
            found.lists.setdefault(name, []).extend(value)
        elif isinstance(value, str) and name != "role":
            found.fields[name] = found.fields.get(name, "") + value


def _piece(found: Completion, piece: dict[str, Any]) -> None:
    index = piece.get("index")
    if not isinstance(index, int):
        found.problems.append("a call without index")
        return
    known = found.by_index.setdefault(index, ["", "", ""])
    function = piece.get("function") or {}
    known[0] = known[0] or piece.get("id") or ""
    known[1] += function.get("name") or ""
    known[2] += function.get("arguments") or ""


def said(asked: ToolRound) -> dict[str, Any]:
    """The assistant message of a round, as it goes back to the model."""
    (raw,) = asked.items
    return dict(json.loads(raw))
