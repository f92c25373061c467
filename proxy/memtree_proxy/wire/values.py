"""Types of values that several families of routes share, posted and answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta

from memtree.agents.memory_schema import KIND_PATTERN, KIND_RULE
from memtree.history.address_chain import DIGEST_BYTES
from memtree.memories.checked_fields import MAX_GIVEN, shown
from memtree.memories.draft import MAX_NAME_CHARS
from memtree.memories.memory import MAX_TAGS
from memtree_proxy.http.auth import AGENT, SUBJECT
from memtree_proxy.http.decoding import FORMS, NOT_BLANK, FieldError, OrNull, Posted
from memtree_proxy.wire.request_options import NAMESPACE

Shown = TypeVar("Shown", bound="Answer")

MAX_QUERY = 8_000  # characters of a search query, which the embedder reads whole
MAX_ROWS = 1_000  # in one list
MAX_HITS, HITS = 100, 5  # in one search: the limit and the default

_ID = NAMESPACE
_MANY = r"^([A-Za-z0-9._~:@\-]{1,200}|\*)\Z"
_KIND = rf"^{KIND_PATTERN}\Z"
_NO_NUL = r"^[^\x00]*\Z"
_ADDRESS = rf"^[0-9a-fA-F]{{{2 * DIGEST_BYTES}}}\Z"
FORMS |= {
    _MANY: f"{FORMS[_ID]}, or *",
    _KIND: KIND_RULE,
    _NO_NUL: "holds a NUL character",
    _ADDRESS: f"must be a string of {2 * DIGEST_BYTES} hex digits",
}

# -- posted ----------------------------------------------------------------------------------

Share = Annotated[float, Meta(ge=0, le=1)]
Id = Annotated[str, Meta(pattern=_ID)]
Many = Annotated[str, Meta(pattern=_MANY)]  # an agent or a subject, or `*` for all of them
Kind = Annotated[str, Meta(pattern=_KIND)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS, pattern=_NO_NUL)]
Searched = Annotated[str, Meta(pattern=NOT_BLANK, max_length=MAX_QUERY)]
Tags = Annotated[list[Annotated[str, Meta(max_length=MAX_GIVEN)]], Meta(max_length=MAX_TAGS)]
Address = Annotated[str, Meta(pattern=_ADDRESS)]
Rows = Annotated[int, Meta(ge=1, le=MAX_ROWS)]
Hits = Annotated[int, Meta(ge=1, le=MAX_HITS)]
Text = Annotated[str, Meta(pattern=_NO_NUL)]


class NoQuery(Posted, frozen=True):
    """Query without a parameter."""


class AgentQuery(Posted, frozen=True):
    """Query that may name an agent and a subject; `*` is refused where one of each is meant."""

    agent_id: Many | None = msgspec.field(default=None, name=AGENT)
    subject_id: Many | None = msgspec.field(default=None, name=SUBJECT)

    def check(self) -> None:
        if self.subject_id is not None and self.agent_id is None:
            raise FieldError(SUBJECT, f"needs {AGENT}, which may be *")


class DryRun(Posted, frozen=True):
    """Query of a deletion."""

    dry_run: OrNull[bool] = False


class Deleting(DryRun, frozen=True):
    purge: OrNull[bool] = False


class DeletingOne(AgentQuery, frozen=True):
    """Query of the deletion of one memory, which may be an agent's."""

    dry_run: OrNull[bool] = False
    purge: OrNull[bool] = False


# -- answered --------------------------------------------------------------------------------

Count = Annotated[int, Meta(ge=0)]
Place = Annotated[int, Meta(ge=1)]
State = Literal["live", "expired", "superseded", "duplicate", "deleted"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a caller; encoded once. Fields that are `UNSET` are left out."""


class Success(Answer, frozen=True, kw_only=True):
    success: Literal[True] = True


class Counted(Answer, frozen=True, kw_only=True):
    """How much a dry run would delete."""

    dry_run: Literal[True] = True
    count: Count


class Deleted(Success, frozen=True, kw_only=True):
    deleted: Count


def maybe_time(seconds: float | None) -> str | None:
    return None if seconds is None else shown(seconds)


def where_given(value: Any) -> Any:
    """Leave out a field that is empty."""
    return value or UNSET


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def copied(kind: type[Shown], source: object, /, **made: Any) -> Shown:
    """Make an answer of the attributes of the same name, but for those that are `made`."""
    for name in kind.__struct_fields__:
        if name not in made:
            made[name] = getattr(source, name)
    return kind(**made)


def hexes(ids: Iterable[bytes]) -> list[str]:
    return [id_.hex() for id_ in ids]
