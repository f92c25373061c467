"""Reads the fields of a request that are MemTree's own.

These are the options of memory in a body, of chats in three dialects and of `/context_memory`, and
`dry_run` and `purge` of a deletion. Options of memory are read once, from their bytes; everything
else of a body stays as it was posted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.history.json_body import OWN_FIELDS, Body
from memtree.history.keep_options import LONGEST, MOST
from memtree.memories.user_memories import MOST_TOP_K
from memtree_proxy.http.decoding import (
    FORMS,
    FieldError,
    OrNull,
    Posted,
    converted,
    fields_of,
    header,
    names,
    unknown,
)

MIN_WINDOW, MAX_WINDOW = 1_024, 10_000_000
MIN_TARGET = 1_000
MAX_DAYS = 365
MOST_PASSAGES = 20
DRY_RUN, PURGE = "dry_run", "purge"
NAMESPACE = r"^[A-Za-z0-9._~:@\-]{1,200}\Z"
_DIGITS = r"^[1-9][0-9]{3,7}\Z"
FORMS[NAMESPACE] = "must be 1 to 200 of the characters A-Z a-z 0-9 . _ ~ : @ -"
FORMS[_DIGITS] = f"must be an integer of {MIN_WINDOW} to {MAX_WINDOW}"

Days = Annotated[int, Meta(ge=1, le=MAX_DAYS)]
Mode = Literal["stable", "auto", "fresh"]
Share = Annotated[float, Meta(ge=0, le=1)]
Kept = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=LONGEST)]], Meta(max_length=MOST)
]


class MemoryOptions(Posted, frozen=True, rename={"threshold": "score_threshold"}):
    """Options for the memories of the user. None: as in the user's settings. `enabled`: memories
    are added to this request, and extracted from it as far as that is switched on; False:
    neither."""

    enabled: bool | None = None
    top_k: Annotated[int, Meta(ge=1, le=MOST_TOP_K)] | None = None
    threshold: Share | None = None


class RagOptions(
    Posted,
    frozen=True,
    rename={"top_k": "topK", "threshold": "scoreThreshold", "metadata": "includeMetadata"},
):
    """Options for passages of documents. `top_k`: most passages. `threshold`: their least
    relevance. `metadata`: True to show metadata of their documents. `type`: of the documents; None
    or "": any."""

    namespace: OrNull[Annotated[str, Meta(pattern=NAMESPACE)]] = "default"
    top_k: OrNull[Annotated[int, Meta(ge=1, le=MOST_PASSAGES)]] = 5
    threshold: OrNull[Share] = 0.5
    metadata: OrNull[bool] = False
    type: str | None = None


class KeepFields(Posted, frozen=True):
    """The passages to keep, also as the JSON of a header."""

    keep_patterns: Kept | None = None
    protected_tools: Kept | None = None


class ChatOptions(KeepFields, frozen=True):
    """The options of a chat. None: as the settings say."""

    model_context_limit: (
        Annotated[int, Meta(ge=MIN_WINDOW, le=MAX_WINDOW)]
        | Annotated[str, Meta(pattern=_DIGITS)]
        | None
    ) = None
    target_tokens: Annotated[int, Meta(ge=MIN_TARGET)] | None = None
    expiration_days: Days | None = None
    memory: bool | None = None
    mode: Mode | None = None
    query: str | None = None
    use_rag: OrNull[bool] = False
    rag_options: OrNull[RagOptions] = RagOptions()
    memory_options: OrNull[MemoryOptions] = MemoryOptions()

    def check(self) -> None:
        if self.window is not None and not MIN_WINDOW <= self.window <= MAX_WINDOW:
            raise FieldError("model_context_limit", FORMS[_DIGITS])

    @property
    def window(self) -> int | None:
        return None if self.model_context_limit is None else int(self.model_context_limit)

    @property
    def rag(self) -> RagOptions | None:
        """Return the options for passages; None if the request wants none."""
        return self.rag_options if self.use_rag else None


class ContextOptions(ChatOptions, frozen=True):
    """The options of `/context_memory`. It is the last to judge the model and the limits of
    the answer, which go to no upstream."""

    model: str | None = None
    max_tokens: Annotated[int, Meta(ge=0)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=0)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=0)] | None = None
    index_only: OrNull[bool] = False
    explain: OrNull[bool] = False


def chat_options(body: Body) -> ChatOptions:
    """Read the options of a chat. Raises `BadRequest` that names the field.

    >>> from memtree.history.json_body import split
    >>> chat_options(split(b'{"mode": "fresh", "model_context_limit": "50000"}')).window
    50000
    """
    return DEFAULTS if OWN_FIELDS.isdisjoint(body.spans) else fields_of(ChatOptions, body, _CHAT)


def context_options(body: Body) -> ContextOptions:
    """Read the options of `/context_memory`. Raises `BadRequest` that names the field."""
    return fields_of(ContextOptions, body, _CONTEXT)


DEFAULTS = ChatOptions()
_CHAT, _CONTEXT = names(ChatOptions), names(ContextOptions)


class DeleteOptions(NamedTuple):
    """`dry_run`: delete nothing and return how much would be deleted. `purge`: erase it for
    good."""

    dry_run: bool
    purge: bool


def delete_options(
    query: QueryParams,
    body: Body | None,
    switches: Collection[str] = (DRY_RUN, PURGE),
    *,
    queried: Iterable[str] = (),
    posted: Iterable[str] = (),
) -> DeleteOptions:
    """Read the options of a delete route; both may be in the query or in the body. `queried`,
    `posted`: other fields that the query and the body may have.

    Raises `BadRequest` that names an unknown field, or a switch given in both. All unknown fields
    are refused: ignoring a mistyped `dry_run`, or a filter of another route, would delete more than
    was requested.
    """
    refuse_unknown(query, {*switches, *queried}, "query parameter")
    refuse_unknown(body.spans if body else (), {*switches, *posted}, "field")
    values = {}
    for name in switches:
        in_query = header(bool, query, name)
        posted_value = body.value(name) if body else None
        value = None if posted_value is None else converted(bool, posted_value, name)
        if len(query.getlist(name)) > 1 or None not in (in_query, value):
            raise BadRequest(f"{name} is given twice", param=name)
        values[name] = bool(in_query or value)
    return DeleteOptions(values.get(DRY_RUN, False), values.get(PURGE, False))


def refuse_unknown(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise `BadRequest` for the first unknown name. `what`: the kind of name."""
    for name in given:
        if name not in known:
            raise unknown(name, known, what)
