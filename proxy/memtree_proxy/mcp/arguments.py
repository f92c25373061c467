"""Arguments of the tools, read by hand: the SDK checks none of them.

A wrong type is a `BadRequest` that names the field, a number out of range is clamped, null means
absent, unknown fields are ignored, but not by `forget`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from memtree.errors import BadRequest, NotFound
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.fields.secret_check import refuse_secrets
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.fields.times import timestamp
from memtree.memories.memory import MAX_TEXT_CHARS
from memtree.memories.ports import MemoryFilter, MemoryRef
from memtree_proxy.mcp.definitions import (
    CAPTURE_MODES,
    DEDUP_POLICIES,
    DEFAULT_LISTED,
    DEFAULT_QUOTED,
    DEFAULT_RECALLED,
    FORGET,
    MAX_REASON_CHARS,
    MOST_LISTED,
    MOST_QUOTED,
    MOST_RECALLED,
    SETTLE_ACTIONS,
)
from memtree_proxy.request import delete_options, fields

Arguments = Mapping[str, object]

MODEL = "model"  # the source of all that comes in by a tool
DEFAULT_IMPORTANCE = 0.5
MAX_CURSOR_CHARS = 200
_LARGEST_NUMBER = 2**63 - 1  # that a store can look for
_ID = re.compile(r"mem_[A-Za-z0-9_-]{1,100}")
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class RememberCall:
    draft: MemoryDraft
    policy: DedupPolicy


@dataclass(frozen=True, slots=True)
class RecallCall:
    query: str
    wanted: MemoryFilter
    limit: int


@dataclass(frozen=True, slots=True)
class ForgetCall:
    ref: MemoryRef
    reason: str
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class CorrectCall:
    ref: MemoryRef
    draft: MemoryDraft
    reason: str


@dataclass(frozen=True, slots=True)
class SettleCall:
    ref: MemoryRef
    other: MemoryRef
    replaces: bool


@dataclass(frozen=True, slots=True)
class SessionsCall:
    query: str
    project: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class ListCall:
    wanted: MemoryFilter
    cursor: str | None
    limit: int


def remember(given: Arguments) -> RememberCall:
    policy = fields.choice(given.get("dedup_policy"), "dedup_policy", DEDUP_POLICIES)
    draft = MemoryDraft(
        text=required(given, "text"),
        tags=_tags(given),
        source_type=MODEL,
        source_provider=string(given, "source_provider"),
        importance=share(given.get("importance"), "importance", DEFAULT_IMPORTANCE),
        capture_mode=fields.choice(given.get("capture_mode"), "capture_mode", CAPTURE_MODES),
        session_id=string(given, "session_id"),
        expires=timestamp(given.get("expires_at"), "expires_at"),
        last_confirmed=timestamp(given.get("last_confirmed_at"), "last_confirmed_at"),
        turn_known=False,
        standing=_not_standing(given),
    )
    return RememberCall(draft, DedupPolicy(policy or DedupPolicy.ASK))


def recall(given: Arguments, max_chars: int = MAX_TEXT_CHARS) -> RecallCall:
    query = _query(given, max_chars)
    wanted = MemoryFilter(tags=_tags(given), session_id=string(given, "session_id"))
    limit = fields.integer(given.get("limit"), "limit", 1, MOST_RECALLED)
    return RecallCall(query, wanted, limit or DEFAULT_RECALLED)


def _query(given: Arguments, max_chars: int) -> str:
    query = required(given, "query")
    if len(query) > max_chars:
        raise BadRequest(f"query must have at most {max_chars} characters", param="query")
    return query


def forget(given: Arguments) -> ForgetCall:
    """Read the arguments of `forget`. Raises `BadRequest` for unknown ones: a mistyped `dry_run`
    must not delete."""
    delete_options.refuse_unknown(given, FORGET.input_schema["properties"], "argument")
    dry_run = fields.boolean(given.get("dry_run"), "dry_run") or False
    return ForgetCall(reference(given), _reason(given), dry_run)


def correct(given: Arguments) -> CorrectCall:
    draft = MemoryDraft(text=required(given, "text"), source_type=MODEL, turn_known=False)
    return CorrectCall(reference(given), draft, _reason(given))


def list_memories(given: Arguments) -> ListCall:
    cursor = string(given, "cursor")
    if cursor is not None and len(cursor) > MAX_CURSOR_CHARS:
        raise BadRequest("cursor must be the next_cursor of an earlier page", param="cursor")
    wanted = MemoryFilter(
        tags=_tags(given),
        standing=fields.boolean(given.get("standing"), "standing"),
        conflicts=fields.boolean(given.get("conflicts"), "conflicts"),
    )
    limit = fields.integer(given.get("limit"), "limit", 1, MOST_LISTED)
    return ListCall(wanted, cursor, limit or DEFAULT_LISTED)


def search_sessions(given: Arguments) -> SessionsCall:
    project = string(given, "project")
    if project is not None and not PurePath(project).is_absolute():
        raise BadRequest("project must be an absolute path", param="project")
    limit = fields.integer(given.get("limit"), "limit", 1, MOST_QUOTED)
    return SessionsCall(_query(given, MAX_TEXT_CHARS), project, limit or DEFAULT_QUOTED)


def settle(given: Arguments) -> SettleCall:
    action = fields.choice(given.get("action"), "action", SETTLE_ACTIONS)
    if action is None:
        raise BadRequest("action must be replace or keep_both", param="action")
    try:
        other = reference({"id": given.get("with")})
    except BadRequest:
        raise BadRequest("with must be a memory's memory_id or its id", param="with") from None
    return SettleCall(reference(given), other, action == SETTLE_ACTIONS[0])


def _not_standing(given: Arguments) -> bool | None:
    """A model may say that a wish is for this once; that one stands, rules alone decide."""
    return False if fields.boolean(given.get("standing"), "standing") is False else None


def reference(given: Arguments) -> MemoryRef:
    """The memory that `id` names: a number, also in digits, or `mem_...`. What a model takes for
    its name in answers, `memory_id`, counts as well.

    >>> reference({"id": 12}), reference({"id": "12"}), reference({"memory_id": "mem_a"})
    (12, 12, 'mem_a')
    """
    value = given.get("id")
    value = given.get("memory_id") if value is None else value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():  # 12.0 is an integer in JSON
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= _LARGEST_NUMBER:
            raise NotFound("There is no memory with this id.", param="id")
        return value
    if isinstance(value, str) and _ID.fullmatch(value):
        return value
    raise BadRequest("id must be a memory's integer memory_id or its id, as mem_...", param="id")


def share(value: object, name: str, default: float) -> float:
    """A number from 0 to 1; what lies beyond is clamped."""
    if value is None:
        return default
    odd = isinstance(value, bool) or (isinstance(value, float) and math.isnan(value))
    if odd or not isinstance(value, int | float):
        raise BadRequest(f"{name} must be a number from 0 to 1", param=name)
    return float(min(1, max(0, value)))


def string(given: Arguments, name: str) -> str | None:
    """A text that a store can hold; an empty one is none."""
    value = fields.text(given.get(name), name)
    if value is None:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} holds half a character (a lone surrogate)", param=name) from None
    if "\0" in value:
        raise BadRequest(f"{name} holds a NUL character", param=name)
    return value or None


def required(given: Arguments, name: str) -> str:
    value = string(given, name)
    if value is None or not value.strip():
        raise BadRequest(f"{name} is required and must not be empty", param=name)
    return value


def _tags(given: Arguments) -> tuple[str, ...]:
    """In their form; as they were given they may look like a secret, which lower case hides."""
    values = given.get("tags")
    tags = canonical_tags(values, "tags")
    if isinstance(values, Sequence):
        refuse_secrets("\n".join(values))
    return tags


def _reason(given: Arguments) -> str:
    """Kept in a tombstone, so it holds no secret either."""
    reason = (string(given, "reason") or "").strip()
    if len(reason) > MAX_REASON_CHARS:
        raise BadRequest(f"reason must have at most {MAX_REASON_CHARS} characters", param="reason")
    refuse_secrets(reason)
    return reason
