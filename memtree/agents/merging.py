"""Make memories of what was found in several messages: what belongs together is one.

Of what a kind knows of the user there is one memory in a conversation: a later mention wins, lists
grow. A record of another kind is a memory of its own. Where a memory of the kind is there already
that this one would take the place of, what it knows and nobody mentions is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtree.agents.fillable_fields import Path, kind_fields
from memtree.agents.schemas_memory_schema import KIND, MemorySchema, canonical

ITEMS = 50  # of a list that grows


@dataclass(frozen=True, slots=True)
class Finding:
    """Values that a message gives for a memory of this kind, by the path of their field, said in
    [start, end)."""

    kind: str
    values: tuple[tuple[Path, Any], ...]
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class StructuredCandidate:
    """A memory to be. `message`: index of the message that it was last found in; [start, end): the
    last place there. `earlier`: of the messages before that one that say something of it.
    `happened`: unix seconds."""

    kind: str
    data: Mapping[str, Any]
    message: int
    start: int
    end: int
    confidence: float
    alone: bool = False
    happened: float | None = None
    earlier: tuple[int, ...] = ()

    @property
    def messages(self) -> tuple[int, ...]:
        """All that say something of it."""
        return (*self.earlier, self.message)


def gathered(
    findings: Iterable[tuple[int, Finding]], schemas: Iterable[MemorySchema]
) -> list[StructuredCandidate]:
    """Findings with the index of their message, in order, as memories. `schemas`: of their kinds.
    Those of a profile are joined where none of its unique fields has another value; where it has no
    unique fields, no field at all."""
    by_kind = {schema.kind: schema for schema in schemas}
    made: list[StructuredCandidate] = []
    newest: dict[str, int] = {}  # where the memory of a kind stands that may grow
    for message, item in findings:
        data: dict[str, Any] = {}
        for path, value in item.values:
            _put(data, path, value)
        schema = by_kind[item.kind]
        alone = schema.unique_on != (KIND,) and not kind_fields(schema).about_user
        new = StructuredCandidate(
            item.kind, data, message, item.start, item.end, item.confidence, alone
        )
        at = newest.get(item.kind)
        if alone or at is None or not _agree(made[at].data, data, schema.unique_on):
            if not alone:
                newest[item.kind] = len(made)
            made.append(new)
            continue
        old = made[at]
        made[at] = replace(
            new,
            data=merged(old.data, data),
            confidence=min(old.confidence, new.confidence),
            earlier=old.earlier if old.message == message else old.messages,
        )
    return made


def _agree(old: Mapping[str, Any], new: Mapping[str, Any], unique_on: Iterable[str]) -> bool:
    """Return True if two say nothing different: of the unique fields, or else of any."""
    names = set(unique_on) or set(old)
    for name in names & set(old) & set(new):
        before, value = old[name], new[name]
        if isinstance(before, dict) and isinstance(value, dict):
            if not _agree(before, value, ()):
                return False
        elif not (isinstance(before, list) and isinstance(value, list)) and before != value:
            return False
    return True


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge what both know; the new one wins, and lists of texts keep the old items, too."""
    result = dict(old)
    for name, value in new.items():
        before = result.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            result[name] = merged(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            known = {_form(item) for item in before}
            result[name] = [*before, *(item for item in value if _form(item) not in known)][:ITEMS]
        else:
            result[name] = value
    return result


def same_data(data: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two memories of one kind say the same, in whatever order."""
    return canonical(data) == canonical(other)


def lacking(data: Mapping[str, Any], required: Iterable[str]) -> list[str]:
    return sorted(name for name in required if name not in data)


def _form(item: Any) -> str:
    return item.casefold() if isinstance(item, str) else canonical(item)


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        data = data.setdefault(name, {})
    data[path[-1]] = value
