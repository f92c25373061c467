"""Define the arguments of the tools, once for both the tool list and the reading of calls.

The SDK checks no arguments. A wrong type is a `BadRequest` that names the field, a number out of
range is clamped, null means absent. Unknown fields are ignored, except by `forget`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec

from memtree.errors import BadRequest, NotFound
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.fields.secret_check import refuse_secrets
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.fields.times import timestamp
from memtree.memories.memory import MAX_TAGS, MAX_TEXT_CHARS
from memtree.memories.ports import MemoryFilter, MemoryRef
from memtree_proxy.request import delete_options, fields
from memtree_proxy.wire import shape
from memtree_proxy.wire.json_schema import BOOLEAN, STRING, Json, array
from memtree_proxy.wire.shape import Shape, Type
from memtree_proxy.wire.types import YES_OR_NO

MODEL = "model"  # source type of memories saved through a tool
DEFAULT_IMPORTANCE = 0.5
DEFAULT_RECALLED, MOST_RECALLED = 5, 50
DEFAULT_LISTED, MOST_LISTED = 20, 100
DEFAULT_QUOTED, MOST_QUOTED = 5, 20
MAX_CURSOR_CHARS = 200
MAX_REASON_CHARS = 1_000
REPLACE, KEEP_BOTH = "replace", "keep_both"
_LARGEST_NUMBER = 2**63 - 1  # the largest integer that stores can look up
_ID = re.compile(r"mem_[A-Za-z0-9_-]{1,100}")
_NUMBER = re.compile(r"[0-9]{1,18}")

# -- types of values --------------------------------------------------------------------------


def _text(**more: object) -> Json:
    """Return a string schema with `description` before `more`; the text is filled in later."""
    return {**STRING, "description": "", **more}


def reference(value: object, name: str) -> MemoryRef:
    """Read the reference to a memory: a number, also as a string of digits, or `mem_...`.

    >>> reference(12, "id"), reference("12", "id"), reference("mem_a", "id")
    (12, 12, 'mem_a')
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():  # 12.0 is an integer in JSON
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 < value <= _LARGEST_NUMBER:
            raise NotFound("There is no memory with this id.", param=name)
        return value
    if isinstance(value, str) and _ID.fullmatch(value):
        return value
    raise BadRequest(
        f"{name} must be a memory's integer memory_id or its id, as mem_...", param=name
    )


def share(value: object, name: str) -> float:
    """Return a number clamped to 0 to 1. Raises `BadRequest`."""
    odd = isinstance(value, bool) or (isinstance(value, float) and math.isnan(value))
    if odd or not isinstance(value, int | float):
        raise BadRequest(f"{name} must be a number from 0 to 1", param=name)
    return float(min(1, max(0, value)))


def string(value: object, name: str) -> str | None:
    """Return a text that a store can hold, or None if it is empty. Raises `BadRequest`."""
    given = fields.text(value, name) or ""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} holds half a character (a lone surrogate)", param=name) from None
    if "\0" in given:
        raise BadRequest(f"{name} holds a NUL character", param=name)
    return given or None


def _required(value: object, name: str) -> str:
    given = string(value, name)
    if given is None or not given.strip():
        raise BadRequest(f"{name} is required and must not be empty", param=name)
    return given


def _tags(value: object, name: str) -> tuple[str, ...]:
    """Return the tags in canonical form. Secrets are sought in the tags as given, since lower case
    can hide them."""
    tags = canonical_tags(value, name)
    if isinstance(value, Sequence):
        refuse_secrets("\n".join(value))
    return tags


def _reason(value: object, name: str) -> str:
    """Return the reason. Secrets are refused, since tombstones store it."""
    reason = (string(value, name) or "").strip()
    if len(reason) > MAX_REASON_CHARS:
        raise BadRequest(f"{name} must have at most {MAX_REASON_CHARS} characters", param=name)
    refuse_secrets(reason)
    return reason


def _not_standing(value: object, name: str) -> bool | None:
    """Return False or None. A model may declare that a request is not standing; only rules decide
    that a request stands."""
    return False if fields.boolean(value, name) is False else None


def _cursor(value: object, name: str) -> str | None:
    cursor = string(value, name)
    if cursor is not None and len(cursor) > MAX_CURSOR_CHARS:
        raise BadRequest(f"{name} must be the next_cursor of an earlier page", param=name)
    return cursor


def _folder(value: object, name: str) -> str | None:
    folder = string(value, name)
    if folder is not None and not PurePath(folder).is_absolute():
        raise BadRequest(f"{name} must be an absolute path", param=name)
    return folder


def _one_of(*choices: str, **more: object) -> Type:
    return Type(
        _text(enum=list(choices), **more), lambda it, name: fields.choice(it, name, choices)
    )


def _limit(default: int, most: int) -> Type:
    bounds = {"minimum": 1, "maximum": most, "default": default}
    return Type(
        {"type": "integer", "description": "", **bounds},
        lambda value, name: fields.integer(value, name, 1, most),
    )


def _action(value: object, name: str) -> str:
    if (action := fields.choice(value, name, (REPLACE, KEEP_BOTH))) is None:
        raise BadRequest(f"{name} must be {REPLACE} or {KEEP_BOTH}", param=name)
    return action


_ANY_OF = {"anyOf": [{"type": "integer"}, STRING]}
_ABOUT = "The memory: its memory_id (an integer) or its id (mem_...)."
_KEPT = "Why; kept beside the date, so that the same mistake is noticed later."
_ISO = "ISO 8601 timestamp; UTC where it names no offset."
_FROM_0_TO_1 = {"type": "number", "minimum": 0, "maximum": 1, "default": DEFAULT_IMPORTANCE}

Text = Annotated[str, Type(_text(maxLength=MAX_TEXT_CHARS), _required, reads_null=True)]
AnyText = Annotated[str | None, Type(_text(), string)]
Query = Annotated[Text, "What to look for, in your own words."]
Tags = Annotated[tuple[str, ...], Type(array(STRING, maxItems=MAX_TAGS), _tags)]
AllTags = Annotated[Tags, "Only memories that have all of these tags."]
Time = Annotated[float | None, Type(_text(), timestamp)]
Share = Annotated[float, Type(_FROM_0_TO_1, share)]
Flag = Annotated[bool | None, YES_OR_NO]
MemoryId = Annotated[int | str, Type(_ANY_OF, reference, reads_null=True), _ABOUT]
Reason = Annotated[str, Type(_text(maxLength=MAX_REASON_CHARS), _reason), _KEPT]
Cursor = Annotated[str | None, Type(_text(), _cursor)]
Folder = Annotated[str | None, Type(_text(), _folder)]
Action = Annotated[str, Type(_text(enum=[REPLACE, KEEP_BOTH]), _action, reads_null=True)]
CaptureMode = Annotated[str | None, _one_of("explicit", "inferred")]
Policy = Annotated[
    str, _one_of(*(policy.value for policy in DedupPolicy), default=DedupPolicy.ASK.value)
]

# -- the tools --------------------------------------------------------------------------------


class Arguments(Shape, frozen=True, rename="lower"):
    NULLABLE: ClassVar[bool] = False


Call = TypeVar("Call", bound=Arguments)


class Remember(Arguments, frozen=True):
    text: Annotated[Text, "The fact to remember."]
    tags: Annotated[Tags, "Labels to find it by, as family or project-x."] = ()
    source_provider: Annotated[
        AnyText, "Name of the model or client that produced this memory."
    ] = None
    importance: Annotated[Share, "Reserved for ranking; stored, not used yet."] = DEFAULT_IMPORTANCE
    capture_mode: Annotated[
        CaptureMode, "explicit: the user asked to remember it; inferred: you decided on your own."
    ] = None
    session_id: Annotated[AnyText, "Opaque conversation identifier."] = None
    dedup_policy: Annotated[
        Policy,
        "insert: store without a look at what is there; skip_if_near: return the existing "
        "memory where it says the same; ask: store, and list what comes near.",
    ] = DedupPolicy.ASK
    expires_at: Annotated[Time, f"After this, recall leaves it out. {_ISO}"] = None
    standing: Annotated[
        bool | None,
        Type(BOOLEAN, _not_standing),
        "false: a wish for this once. Whether another one is shown with every prompt, the server "
        "decides.",
    ] = None
    last_confirmed_at: Annotated[
        Time, f"When it was last verified as true; default: now. {_ISO}"
    ] = None

    @property
    def draft(self) -> MemoryDraft:
        return MemoryDraft(
            text=self.text,
            tags=self.tags,
            source_type=MODEL,
            source_provider=self.source_provider,
            importance=self.importance,
            capture_mode=self.capture_mode,
            session_id=self.session_id,
            expires=self.expires_at,
            last_confirmed=self.last_confirmed_at,
            turn_known=False,
            standing=self.standing,
        )


class Recall(Arguments, frozen=True):
    query: Query
    tags: AllTags = ()
    limit: Annotated[int, _limit(DEFAULT_RECALLED, MOST_RECALLED), "Most results."] = (
        DEFAULT_RECALLED
    )
    session_id: Annotated[AnyText, "Only memories saved with this session_id."] = None

    @property
    def wanted(self) -> MemoryFilter:
        return MemoryFilter(tags=self.tags, session_id=self.session_id)


class Forget(Arguments, frozen=True):
    id: MemoryId
    reason: Reason = ""
    dry_run: Annotated[bool, YES_OR_NO, "Only tell whether it is there."] = False

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        """Refuse unknown arguments: with `dry_run` misspelled, the call would delete."""
        delete_options.refuse_unknown(given, shape.names(cls), "argument")


class Correct(Arguments, frozen=True):
    id: MemoryId
    text: Annotated[Text, "The fact as it is now, in full."]
    reason: Reason = ""

    @property
    def draft(self) -> MemoryDraft:
        return MemoryDraft(text=self.text, source_type=MODEL, turn_known=False)


class Confirm(Arguments, frozen=True):
    id: MemoryId


class ListMemories(Arguments, frozen=True):
    MORE: ClassVar[Json] = {"required": []}

    cursor: Annotated[
        Cursor, "next_cursor of the page before; leave it out for the first page."
    ] = None
    limit: Annotated[int, _limit(DEFAULT_LISTED, MOST_LISTED), "Most memories of a page."] = (
        DEFAULT_LISTED
    )
    tags: AllTags = ()
    standing: Annotated[Flag, "Only those shown with every prompt."] = None
    conflicts: Annotated[Flag, "Only those that may replace another one."] = None

    @property
    def wanted(self) -> MemoryFilter:
        return MemoryFilter(tags=self.tags, standing=self.standing, conflicts=self.conflicts)


class Settle(Arguments, frozen=True):
    id: MemoryId
    other: MemoryId = msgspec.field(name="with")
    action: Annotated[Action, "What becomes of `with`."]


class SearchSessions(Arguments, frozen=True):
    query: Query
    project: Annotated[Folder, "Absolute path of a folder: only sessions in it or below."] = None
    limit: Annotated[int, _limit(DEFAULT_QUOTED, MOST_QUOTED), "Most quotations."] = DEFAULT_QUOTED


def read(kind: type[Call], given: Mapping[str, Any], max_query: int = MAX_TEXT_CHARS) -> Call:
    """Read the arguments of a call. `memory_id`, the name in answers, also counts as `id`.
    `max_query`: characters. Raises `BadRequest`, `NotFound`."""
    if given.get("id") is None and "memory_id" in given:
        given = {**given, "id": given["memory_id"]}
    call = shape.read(kind, given)
    if len(getattr(call, "query", "")) > max_query:
        raise BadRequest(f"query must have at most {max_query} characters", param="query")
    return call
