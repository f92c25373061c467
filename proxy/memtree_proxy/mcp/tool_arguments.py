"""The arguments of the tools: what clients list, and what a call is read by.

They are read strictly; the SDK checks none. Null counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from memtree.errors import BadRequest
from memtree.memories.checked_fields import canonical_tags, refuse_secrets, timestamp
from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import MAX_TEXT_CHARS
from memtree.memories.memory_store import MemoryFilter, MemoryRef
from memtree_proxy.http.decoding import FORMS, FieldError, OrNull, Posted, converted
from memtree_proxy.wire.values import Share, Tags

MODEL = "model"  # source type of memories saved through a tool
MAX_CURSOR_CHARS = 200
MAX_REASON_CHARS = 1_000
_REFERENCE = r"^(mem_[A-Za-z0-9_-]{1,100}|[0-9]{1,18})\Z"
FORMS[_REFERENCE] = "must be a memory's integer memory_id or its id, as mem_..."
_ISO = "ISO 8601 timestamp; UTC where it names no offset."

# -- types of values --------------------------------------------------------------------------

Text = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_CHARS)]
Query = Annotated[Text, Meta(description="What to look for, in your own words.")]
AllTags = Annotated[Tags, Meta(description="Only memories that have all of these tags.")]
Number = Annotated[int, Meta(ge=1, le=2**63 - 1)]  # the largest that stores can look up
MemoryId = Annotated[
    Number | Annotated[str, Meta(pattern=_REFERENCE)],
    Meta(description="The memory: its memory_id (an integer) or its id (mem_...)."),
]
Reason = Annotated[
    str,
    Meta(
        max_length=MAX_REASON_CHARS,
        description="Why; kept beside the date, so that the same mistake is noticed later.",
    ),
]


def reference(posted: int | str) -> MemoryRef:
    """Return the reference to a memory: a number, also given as digits, or `mem_...`.

    >>> reference(12), reference("12"), reference("mem_a")
    (12, 12, 'mem_a')
    """
    return int(posted) if isinstance(posted, str) and posted.isdigit() else posted


def kept_reason(reason: str) -> str:
    """Return the reason. Secrets are refused, since tombstones store it."""
    refuse_secrets(reason)
    return reason.strip()


# -- the tools --------------------------------------------------------------------------------


class Arguments(Posted, frozen=True):
    pass


Call = TypeVar("Call", bound=Arguments)


class Remember(Arguments, frozen=True):
    text: Annotated[Text, Meta(description="The fact to remember.")]
    tags: Annotated[
        Tags | None, Meta(description="Labels to find it by, as family or project-x.")
    ] = None
    source_provider: Annotated[
        str | None,
        Meta(description="Name of the model or client that produced this memory."),
    ] = None
    importance: Annotated[
        OrNull[Share], Meta(description="Reserved for ranking; stored, not used yet.")
    ] = 0.5
    capture_mode: Annotated[
        Literal["explicit", "inferred"] | None,
        Meta(
            description="explicit: the user asked to remember it; inferred: you decided on your "
            "own."
        ),
    ] = None
    session_id: Annotated[str | None, Meta(description="Opaque conversation identifier.")] = None
    dedup_policy: Annotated[
        OrNull[Literal["insert", "skip_if_near", "ask"]],
        Meta(
            description="insert: store without a look at what is there; skip_if_near: return the "
            "existing memory where it says the same; ask: store, and list what comes near."
        ),
    ] = "ask"
    expires_at: Annotated[
        str | None, Meta(description=f"After this, recall leaves it out. {_ISO}")
    ] = None
    standing: Annotated[
        bool | None,
        Meta(
            description="Has no effect: a wish is shown with every prompt once a person has "
            "confirmed it."
        ),
    ] = None
    last_confirmed_at: Annotated[
        str | None,
        Meta(description=f"When it was last verified as true; default: now. {_ISO}"),
    ] = None

    @property
    def draft(self) -> MemoryDraft:
        # As they are given, since lower case can hide a secret.
        refuse_secrets("\n".join(self.tags or ()))
        return MemoryDraft(
            text=self.text,
            tags=canonical_tags(self.tags),
            source_type=MODEL,
            source_provider=self.source_provider or None,
            importance=self.importance,
            capture_mode=self.capture_mode,
            session_id=self.session_id or None,
            expires=timestamp(self.expires_at, "expires_at"),
            last_confirmed=timestamp(self.last_confirmed_at, "last_confirmed_at"),
            tainted=True,  # nobody sees who spoke in the turn
        )


class Recall(Arguments, frozen=True):
    query: Query
    tags: AllTags | None = None
    limit: Annotated[
        OrNull[Annotated[int, Meta(ge=1, le=50)]], Meta(description="Most results.")
    ] = 5
    session_id: Annotated[
        str | None, Meta(description="Only memories saved with this session_id.")
    ] = None

    @property
    def wanted(self) -> MemoryFilter:
        return MemoryFilter(tags=canonical_tags(self.tags), session_id=self.session_id or None)


class Forget(Arguments, frozen=True):
    id: MemoryId
    reason: OrNull[Reason] = ""
    dry_run: Annotated[OrNull[bool], Meta(description="Only tell whether it is there.")] = False


class Correct(Arguments, frozen=True):
    id: MemoryId
    text: Annotated[Text, Meta(description="The fact as it is now, in full.")]
    reason: OrNull[Reason] = ""

    @property
    def draft(self) -> MemoryDraft:
        return MemoryDraft(text=self.text, source_type=MODEL, tainted=True)


class Confirm(Arguments, frozen=True):
    id: MemoryId


class ListMemories(Arguments, frozen=True):
    cursor: Annotated[
        str | None,
        Meta(description="next_cursor of the page before; leave it out for the first page."),
    ] = None
    limit: Annotated[
        OrNull[Annotated[int, Meta(ge=1, le=100)]], Meta(description="Most memories of a page.")
    ] = 20
    tags: AllTags | None = None
    standing: Annotated[bool | None, Meta(description="Only those shown with every prompt.")] = None
    conflicts: Annotated[
        bool | None, Meta(description="Only those that may replace another one.")
    ] = None

    @property
    def wanted(self) -> MemoryFilter:
        return MemoryFilter(
            tags=canonical_tags(self.tags), standing=self.standing, conflicts=self.conflicts
        )

    def check(self) -> None:
        if len(self.cursor or "") > MAX_CURSOR_CHARS:
            raise FieldError("cursor", "must be the next_cursor of an earlier page")


class Settle(Arguments, frozen=True, rename={"other": "with"}):
    id: MemoryId
    other: MemoryId
    action: Annotated[Literal["replace", "keep_both"], Meta(description="What becomes of `with`.")]


class SearchSessions(Arguments, frozen=True):
    query: Query
    project: Annotated[
        str | None,
        Meta(description="Absolute path of a folder: only sessions in it or below."),
    ] = None
    limit: Annotated[
        OrNull[Annotated[int, Meta(ge=1, le=20)]], Meta(description="Most quotations.")
    ] = 5

    def check(self) -> None:
        if self.project and not PurePath(self.project).is_absolute():
            raise FieldError("project", "must be an absolute path")


def read(kind: type[Call], given: Mapping[str, Any], max_query: int = MAX_TEXT_CHARS) -> Call:
    """Read the arguments of a call. `memory_id`, the name in answers, also counts as `id`.
    `max_query`: characters. Raises `BadRequest`."""
    if given.get("id") is None and "memory_id" in given:
        given = {name: value for name, value in given.items() if name != "memory_id"} | {
            "id": given["memory_id"]
        }
    call = converted(kind, dict(given), noun="argument")
    for name, value in msgspec.structs.asdict(call).items():
        if isinstance(value, str) and (trouble := _trouble(name, value)):
            raise BadRequest(f"{name} {trouble}", param=name)
    if len(getattr(call, "query", "")) > max_query:
        raise BadRequest(f"query must have at most {max_query} characters", param="query")
    return call


def _trouble(name: str, text: str) -> str:
    """Say why a text cannot be stored or searched for; "" if it can."""
    if "\0" in text:
        return "holds a NUL character"
    if name in ("text", "query") and not text.strip():
        return "must not be empty"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    return ""
