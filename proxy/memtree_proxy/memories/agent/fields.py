"""The fields of requests about agents' memories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
from starlette.datastructures import QueryParams

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.agents.agent_book import MOST_TOGETHER, AgentEdit, StructuredDraft
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.agents.extraction.agent_messages import AgentMessage
from memtree.memories.agents.lifetime import EXPIRES_AT, TTL, expiry, lifetime
from memtree.memories.agents.structured_memory import checked_data
from memtree.memories.memory import UNSET
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.rules.secret_check import refuse_secrets
from memtree.memories.rules.tags import canonical_tags
from memtree.memories.schemas.memory_schema import checked_kind
from memtree.memories.scope import Scope, checked_id
from memtree.wire.json_body import Body
from memtree_proxy.access.agent_scope import (
    AGENT,
    AGENT_FIELDS,
    agent_scopes,
    refuse_twice,
    single_scope,
)
from memtree_proxy.memories.fields import ids, queried_tags
from memtree_proxy.memories.fields import limit as limit_of
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown

THREAD = "threadId"
ROLES = ("user", "assistant", "system", "human", "ai")  # of a conversation
DEFAULT_ROWS, MAX_ROWS = 100, 1_000  # of a list
MAX_MESSAGE_ID = 200  # characters
NOT_EDITED = ("data", "kind", "text", "category", TTL)
# Of one memory as it is posted: each of its characters may be written as six.
MAX_POSTED = 131_072
USERS_FILTERS = (
    "as_of", "include", "group_id", "category", "source_type", "tainted", "created_from",
    "created_before", "threshold",
)  # fmt: skip
_FILTERS = (*AGENT_FIELDS, THREAD, "kind", "tags")
_ONCE = (THREAD, "kind", "limit", "cursor", "include_superseded")  # agents: `queried_agents`
_MEMORY_ID = re.compile(r"[A-Za-z0-9._~:@-]{1,200}")


class Posted(NamedTuple):
    """What is to be stored or read for an agent. Either `memories` or `messages` is empty.
    `schemas`: kinds that memories of a conversation may have, None for all. `expires`: of what says
    nothing of its own. `force`: read messages again that were read before."""

    scope: Scope
    memories: list[StructuredDraft]
    messages: list[AgentMessage]
    thread: str | None
    schemas: list[str] | None
    expires: float | None
    force: bool


class ListAsked(NamedTuple):
    wanted: MemoryFilter
    limit: int
    cursor: str | None


class BatchDeletion(NamedTuple):
    """`ids`, or all that a filter means in these scopes."""

    ids: list[str]
    scopes: AgentScopes | None
    wanted: MemoryFilter


class BatchUpdate(NamedTuple):
    ids: list[str]
    edit: AgentEdit


class RequestContext(NamedTuple):
    """What fields are read with. `now`: unix seconds. `secrets`: whether tags may hold them."""

    tenant: str
    now: float
    max_messages: int
    secrets: bool


# -- making ----------------------------------------------------------------------------------


def posted(body: Body, by: RequestContext, *, conversations: bool = True) -> Posted:
    """Raises `BadRequest` naming the field. `conversations`: whether one may be posted in the place
    of memories."""
    scope = _scope(body, by.tenant)
    given = [name for name in ("conversation", "memories") if _is_there(body, name)]
    if given == ["conversation"] and not conversations:
        raise BadRequest("memories is required; a conversation goes to /memories", param="memories")
    if len(given) != 1:
        raise BadRequest(
            "give either conversation or memories"
            if conversations
            else "give memories without conversation",
            param="conversation" if given else "memories",
        )
    thread = body.value(THREAD)
    ends = lifetime({name: body.value(name) for name in (TTL, EXPIRES_AT)}, by.now)
    direct = given == ["memories"]
    return Posted(
        scope,
        _memories(body, by, ends) if direct else [],
        [] if direct else _conversation(body, by.max_messages),
        None if thread is None else checked_id(thread, THREAD),
        _schemas(body),
        ends,
        fields.boolean(body.value("force"), "force") or False,
    )


def _scope(body: Body, tenant: str) -> Scope:
    scopes = agent_scopes({name: body.value(name) for name in AGENT_FIELDS}, tenant)
    if scopes is None:
        raise BadRequest(f"{AGENT} is required", param=AGENT)
    return single_scope(scopes)


def _memories(body: Body, by: RequestContext, ends: float | None) -> list[StructuredDraft]:
    name = "memories"
    raws = _array(body, name, MOST_TOGETHER)
    return [_draft(raw, f"{name}[{at}]", by, ends) for at, raw in enumerate(raws)]


def _draft(raw: bytes, name: str, by: RequestContext, ends: float | None) -> StructuredDraft:
    if len(raw) > MAX_POSTED:
        raise BadRequest(f"{name} has {len(raw)} bytes", param=name)
    given = _decoded(raw, name)
    if not isinstance(given, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    for field in ("kind", "data"):
        if given.get(field) is None:
            raise BadRequest(f"{name}.{field} is required", param=f"{name}.{field}")
    id_ = given.get("id")
    return StructuredDraft(
        _kind(given["kind"], f"{name}.kind", by.secrets),
        checked_data(given["data"], f"{name}.data"),
        "" if id_ is None else checked_id(id_, f"{name}.id"),
        _tags(given.get("tags"), f"{name}.tags", by.secrets),
        lifetime(given, by.now, otherwise=ends, place=f"{name}."),
    )


def _conversation(body: Body, most: int) -> list[AgentMessage]:
    name = "conversation"
    raws = _array(body, name, most)
    return [_message(raw, f"{name}[{at}]") for at, raw in enumerate(raws)]


def _message(raw: bytes, name: str) -> AgentMessage:
    given = _decoded(raw, name)
    if not isinstance(given, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    role, text, id_ = given.get("role"), given.get("content"), given.get("id")
    if role is None:
        raise BadRequest(f"{name}.role is required", param=f"{name}.role")
    fields.choice(role, f"{name}.role", ROLES)
    if not isinstance(text, str):
        raise BadRequest(f"{name}.content must be a string", param=f"{name}.content")
    if id_ is not None and not (isinstance(id_, str) and 0 < len(id_) <= MAX_MESSAGE_ID):
        raise BadRequest(
            f"{name}.id must be a string of 1 to {MAX_MESSAGE_ID} characters", param=f"{name}.id"
        )
    return AgentMessage(role, text, id_ or "")


def _schemas(body: Body) -> list[str] | None:
    given = body.value("schemas")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MOST_TOGETHER:
        raise BadRequest(f"schemas must be an array of at most {MOST_TOGETHER} names",
                         param="schemas")  # fmt: skip
    return list(dict.fromkeys(checked_kind(one, f"schemas[{at}]") for at, one in enumerate(given)))


# -- finding ---------------------------------------------------------------------------------


def refuse_users_filters(query: QueryParams) -> None:
    """Raises `BadRequest`: to leave a filter out would mean more memories than were asked for."""
    for name in USERS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} is of a user's memories, {AGENT} of others", param=name)


def listed(query: QueryParams) -> ListAsked:
    refuse_twice(query, _ONCE)
    refuse_users_filters(query)
    wanted = memory_filter({**query, "tags": queried_tags(query)})
    if fields.switch(query, "include_superseded"):
        wanted = replace(wanted, superseded=True)
    return ListAsked(wanted, limit_of(query, MAX_ROWS, DEFAULT_ROWS), query.get("cursor"))


def memory_filter(given: Mapping[str, object], place: str = "") -> MemoryFilter:
    """threadId, kind and tags. `place`: what stands before them in errors."""
    thread, kind = given.get(THREAD), given.get("kind")
    return MemoryFilter(
        kind=None if kind is None else checked_kind(kind, f"{place}kind"),
        thread_id=None if thread is None else checked_id(thread, f"{place}{THREAD}"),
        tags=canonical_tags(given.get("tags"), f"{place}tags"),
    )


# -- changing --------------------------------------------------------------------------------


def edit(given: Mapping[str, Any], by: RequestContext, place: str = "") -> AgentEdit:
    """Null takes an expiry away. Raises `BadRequest` where nothing is to be changed, or something
    that is not changed here."""
    known = [f"{place}{name}" for name in ("tags", EXPIRES_AT, *NOT_EDITED)]
    refuse_unknown((f"{place}{name}" for name in given), known, "field")
    for name in NOT_EDITED:
        if given.get(name) is not None:
            raise BadRequest(f"{place}{name} cannot be changed: tags and expiresAt can; data is "
                             "replaced by POST /memories with the memory's id",
                             param=f"{place}{name}")  # fmt: skip
    tags, ends = given.get("tags"), given.get(EXPIRES_AT)
    if tags is None and EXPIRES_AT not in given:
        raise BadRequest(f"{place}tags or {place}expiresAt is required", param=f"{place}tags")
    expires = None if ends is None else expiry(ends, by.now, f"{place}{EXPIRES_AT}")
    return AgentEdit(
        UNSET if tags is None else _tags(tags, f"{place}tags", by.secrets),
        expires if EXPIRES_AT in given else UNSET,
    )


def posted_edit(body: Body, by: RequestContext) -> AgentEdit:
    return edit({name: body.value(name) for name in body.spans}, by)


def batch_update(body: Body, by: RequestContext) -> BatchUpdate:
    given = body.value("update")
    if not isinstance(given, dict):
        raise BadRequest("update must be an object", param="update")
    return BatchUpdate(_ids(body), edit(given, by, "update."))


def batch_deletion(body: Body, by: RequestContext) -> BatchDeletion:
    """Raises `BadRequest` unless it says in exactly one way which memories are meant."""
    if _is_there(body, "ids") == _is_there(body, "filters"):
        raise BadRequest("give either ids or filters", param="ids")
    if _is_there(body, "ids"):
        return BatchDeletion(_ids(body), None, ANY)
    scopes, wanted = filtered(body.value("filters"), by.tenant, "filters")
    if scopes is None:
        raise BadRequest(f"filters.{AGENT} is required; * means every agent",
                         param=f"filters.{AGENT}")  # fmt: skip
    if wanted == ANY and scopes.agent is None and not scopes.subject:
        raise BadRequest(
            "filters must say more than that: an agent, a subject, threadId, kind or tags",
            param="filters",
        )
    return BatchDeletion([], scopes, replace(wanted, superseded=True, expired=True))


def filtered(given: object, tenant: str, name: str) -> tuple[AgentScopes | None, MemoryFilter]:
    """Filters in a body. One that is unknown, or names nothing, is refused: to leave it out would
    mean more memories."""
    if not isinstance(given, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    if set(given) - set(_FILTERS):
        raise BadRequest(f"{name} knows only {', '.join(_FILTERS)}", param=name)
    scopes, wanted = agent_scopes(given, tenant, f"{name}."), memory_filter(given, f"{name}.")
    for each, value in given.items():
        if value is None or (each == "tags" and not wanted.tags):
            raise BadRequest(
                f"{name}.{each} names nothing: leave it out, or say what is meant",
                param=f"{name}.{each}",
            )
    return scopes, wanted


def _ids(body: Body) -> list[str]:
    """Those that may be ids: what cannot be one is nobody's memory."""
    return [one for one in ids(body, most=MOST_TOGETHER) if _MEMORY_ID.fullmatch(one)]


# -- parts -----------------------------------------------------------------------------------


def _tags(value: object, name: str, secrets: bool) -> tuple[str, ...]:
    tags = canonical_tags(value, name)
    if not secrets:
        _refuse_secrets(tags, name)
    return tags


def _kind(value: object, name: str, secrets: bool) -> str:
    kind = checked_kind(value, name)
    if not secrets:
        _refuse_secrets((kind,), name)
    return kind


def _refuse_secrets(texts: Sequence[str], name: str) -> None:
    try:
        for text in texts:
            refuse_secrets(text)
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


def _is_there(body: Body, name: str) -> bool:
    return body.fragment(name) not in (None, b"null")


def _array(body: Body, name: str, most: int) -> Sequence[bytes]:
    """The raw elements. Raises `BadRequest` where there are none, or more than `most`."""
    raw = body.fragment(name) or b"null"
    try:
        elements = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        elements = []
    if not elements:
        raise BadRequest(f"{name} must be a non-empty array", param=name)
    if len(elements) > most:
        raise BadRequest(f"{name} must be at most {most}", param=name)
    return [bytes(element) for element in elements]


def _decoded(raw: bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest(f"{name} is not valid JSON", param=name) from None
