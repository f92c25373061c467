"""Define request bodies for agents' memories: new memories, changes, deletions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.agents.agent_book import MOST_TOGETHER, StructuredDraft
from memtree.memories.agents.agent_memory import ALL, AgentScopes
from memtree.memories.agents.extraction.agent_messages import AgentMessage
from memtree.memories.agents.lifetime import (
    EXPIRES_AT,
    LEAST_MS,
    MOST_MS,
    TTL,
    expiry,
    lifetime,
)
from memtree.memories.agents.schemas.memory_schema import checked_kind
from memtree.memories.agents.structured_memory import MAX_DATA_BYTES, MAX_DEPTH, checked_data
from memtree.memories.draft import Edit
from memtree.memories.fields.secret_check import refuse_secrets
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.memory import UNSET, Unset
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.access.agent_scope import AGENT, SUBJECT, single_scope
from memtree_proxy.request import delete_options
from memtree_proxy.wire.json_schema import NULL, STRING, Json, array, described, when_given
from memtree_proxy.wire.shape import (
    NOT_NULL,
    Many,
    PostedFields,
    Shape,
    Type,
    TypeNow,
    named,
    refuse_unknown,
)
from memtree_proxy.wire.types import (
    A_KIND,
    AN_ID,
    CHAT_ID,
    GIVEN_TAGS,
    KIND,
    MANY,
    TAGS,
    YES_OR_NO,
    ids,
    one_of,
)

ROLES = ("user", "assistant", "system", "human", "ai")  # of a conversation's messages
MAX_MESSAGE_ID = 200  # characters
MAX_MODEL = 200
NOT_EDITED = ("data", "kind", "text", "category", TTL)
MAX_POSTED = 131_072  # bytes of one memory: JSON may escape each character as six
_MEMORY_ID = re.compile(r"[A-Za-z0-9._~:@-]{1,200}")


class RequestContext(NamedTuple):
    """Values that reading a field may need. `now`: unix seconds. `secrets`: tags may hold
    secrets."""

    tenant: str
    now: float
    max_messages: int
    max_text_chars: int
    secrets: bool


# -- types -----------------------------------------------------------------------------------


def scopes_of(agent: str, subject: str, tenant: str) -> AgentScopes:
    """Return the scopes that an agent and a subject name; `*` stands for all of either."""
    return AgentScopes(tenant, None if agent == ALL else agent, None if subject == ALL else subject)


def check_subject(given: Mapping[str, Any], place: str) -> None:
    """Raise `BadRequest` if a subject is given without an agent."""
    if given.get(AGENT) is None and given.get(SUBJECT) is not None:
        raise BadRequest(
            f"{place}{SUBJECT} needs {place}{AGENT}, which may be {ALL}", param=f"{place}{SUBJECT}"
        )


def _agent(value: object, name: str) -> str:
    return ALL if value == ALL else checked_id(value, name)


def _kind(value: object, name: str, by: RequestContext) -> str:
    kind = checked_kind(value, name)
    _refuse_secrets((kind,), name, by)
    return kind


def _tags(value: object, name: str, by: RequestContext) -> tuple[str, ...]:
    tags = canonical_tags(value, name)
    _refuse_secrets(tags, name, by)
    return tags


def _refuse_secrets(texts: Sequence[str], name: str, by: RequestContext) -> None:
    try:
        for text in () if by.secrets else texts:
            refuse_secrets(text)
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


def _ttl(value: object, name: str, by: RequestContext) -> float | None:
    return lifetime({TTL: value}, by.now, place=name.removesuffix(TTL))


def _short_string(longest: int) -> Type:
    """Return the type of a string that is not empty, of `longest` characters at most."""

    def read(value: object, name: str) -> str:
        if not (isinstance(value, str) and 0 < len(value) <= longest):
            raise BadRequest(f"{name} must be a string of 1 to {longest} characters", param=name)
        return value

    return Type({"type": "string", "minLength": 1, "maxLength": longest}, read)


def _string(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string", param=name)
    return value


def _kinds(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_TOGETHER:
        raise BadRequest(f"{name} must be an array of at most {MOST_TOGETHER} names", param=name)
    kinds = (checked_kind(kind, f"{name}[{at}]") for at, kind in enumerate(value))
    return list(dict.fromkeys(kinds))


def _some_tags(value: object, name: str) -> tuple[str, ...]:
    return canonical_tags(value, name) or _names_nothing(name)


def _names_nothing(name: str) -> Any:
    raise BadRequest(f"{name} names nothing: leave it out, or say what is meant", param=name)


_AGENT = Type(CHAT_ID, _agent)
A_MANY = Type(MANY, _agent)
_TAGS = TypeNow(GIVEN_TAGS, _tags)
_TTL = TypeNow(
    {"type": "string", "pattern": "^0{0,3}[1-9][0-9]{0,6}[smhdw]$", "examples": ["24h"]}, _ttl
)
_MS = described(
    {"type": "number", "minimum": LEAST_MS, "maximum": MOST_MS},
    "Milliseconds since 1970, in the future.",
    examples=[1_924_992_000_000],
)
_ENDS = TypeNow(_MS, lambda value, name, by: expiry(value, by.now, name))
Ttl = Annotated[float | None, _TTL]
Ends = Annotated[float | None, _ENDS]
_SOME_TAGS = Type({**GIVEN_TAGS, "minItems": 1}, _some_tags)
_IDS = ids(MOST_TOGETHER)
_MEMORY_IDS = replace(
    _IDS,
    # Drop strings that cannot be ids: no memory has them.
    read=lambda value, name: [id_ for id_ in _IDS.read(value, name) if _MEMORY_ID.fullmatch(id_)],
)
_DEFAULT = "Of memories that say nothing of their own."
_NOT_BOTH: Json = {"not": {"allOf": [when_given(TTL), when_given(EXPIRES_AT)]}}


# -- making ----------------------------------------------------------------------------------


class _WithEnd(Shape, frozen=True):
    """Object with an expiry: `ttl` or `expiresAt`, not both."""

    MORE: ClassVar[Json] = _NOT_BOTH

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if given.get(TTL) is not None and given.get(EXPIRES_AT) is not None:
            raise BadRequest(
                f"{place}{TTL} and {place}{EXPIRES_AT} exclude each other", param=place + TTL
            )


class NewAgentMemory(_WithEnd, frozen=True, kw_only=True):
    kind: Annotated[
        str,
        TypeNow(KIND, _kind),
        "The name of a schema; where the tenant has none, any name will do.",
    ]
    data: Annotated[
        dict[str, Any],
        Type({"type": "object"}, checked_data),
        f"What its schema allows; at most {MAX_DATA_BYTES:,} bytes as JSON, and "
        f"{MAX_DEPTH} deep. Secrets are refused.",
    ]
    id: Annotated[
        str, AN_ID, "Of the memory that gets this data; not for kinds with `uniqueOn`."
    ] = ""
    tags: Annotated[tuple[str, ...], _TAGS] = ()
    ttl: Annotated[Ttl, "Before what the request says. Not with `expiresAt`."] = None
    expires_at: Annotated[Ends, "Before what the request says. Not with `ttl`."] = None

    def draft(self, otherwise: float | None) -> StructuredDraft:
        """Return the memory as a draft. `otherwise`: expiry for a memory that sets none itself."""
        own = self.ttl if self.expires_at is None else self.expires_at
        ends = otherwise if own is None else own
        return StructuredDraft(self.kind, self.data, self.id, tags=self.tags, expires=ends)


class ConversationMessage(Shape, frozen=True, kw_only=True):
    id: Annotated[
        str,
        _short_string(MAX_MESSAGE_ID),
        "A message is read once: by its id in this thread, else by its text.",
    ] = ""
    role: Annotated[str, one_of(*ROLES)]
    content: Annotated[str, Type(STRING, _string, reads_null=True)]


class _OfAgent(_WithEnd, frozen=True, kw_only=True):
    agent_id: Annotated[str, _AGENT]
    subject_id: Annotated[str, _AGENT, "Whom it is about; none: nobody."] = ""
    thread_id: Annotated[str | None, AN_ID] = None
    ttl: Annotated[Ttl, f"{_DEFAULT} Not with `expiresAt`."] = None
    expires_at: Annotated[Ends, f"{_DEFAULT} Not with `ttl`."] = None

    @property
    def ends(self) -> float | None:
        return self.ttl if self.expires_at is None else self.expires_at

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        super().check(given, place)
        check_subject(given, place)

    def scope(self, tenant: str) -> Scope:
        return single_scope(scopes_of(self.agent_id, self.subject_id, tenant))


class NewAgentMemoryBatch(_OfAgent, frozen=True, kw_only=True):
    memories: Annotated[list[NewAgentMemory], Many(MOST_TOGETHER, MAX_POSTED)]
    conversation: Annotated[None, Type(NULL, lambda value, name: None), NOT_NULL] = None

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        super().check(given, place)
        _exactly_one(given, conversations=False)


class NewAgentMemories(_OfAgent, frozen=True, kw_only=True):
    """Body that saves memories or a conversation; the other field is empty. `schemas`: kinds that
    memories of the conversation may have, None for all. `force`: read messages again. `model`: to
    be asked at the caller's upstream, or empty."""

    memories: Annotated[Sequence[NewAgentMemory], Many(MOST_TOGETHER, MAX_POSTED)] = ()
    conversation: Annotated[Sequence[ConversationMessage], Many("max_messages")] = ()
    schemas: Annotated[
        list[str] | None,
        Type(array(KIND, maxItems=MOST_TOGETHER), _kinds),
        "Kinds that its memories may have; none: all that there are.",
    ] = None
    force: Annotated[bool, YES_OR_NO, "Read messages again that were read before."] = False
    model: Annotated[
        str,
        _short_string(MAX_MODEL),
        "A model of the upstream that fills schemas from the conversation, asked with the caller's "
        "own credential, if the server has no model of its own for that.",
    ] = ""

    MORE: ClassVar[Json] = {
        "description": "What an agent remembers: memories, or a conversation to read.",
        "oneOf": [when_given("memories"), when_given("conversation")],
        **_NOT_BOTH,
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        super().check(given, place)
        _exactly_one(given, conversations=True)

    def messages(self) -> list[AgentMessage]:
        return [AgentMessage(item.role, item.content, item.id) for item in self.conversation]


def _exactly_one(posted: Mapping[str, Any], *, conversations: bool) -> None:
    """Raise `BadRequest` unless exactly one is given: memories or, if allowed, a conversation."""
    names = ("conversation", "memories")
    assert isinstance(posted, PostedFields)
    present = [name for name in names if posted.is_given(name)]
    if present == ["conversation"] and not conversations:
        raise BadRequest("memories is required; a conversation goes to /memories", param="memories")
    if len(present) != 1:
        raise BadRequest(
            "give either conversation or memories"
            if conversations
            else "give memories without conversation",
            param="conversation" if present else "memories",
        )


# -- changing --------------------------------------------------------------------------------


class AgentMemoryEdit(Shape, frozen=True):
    """Fields to change; at least one is required. `expires_at` None removes the expiry."""

    tags: Annotated[tuple[str, ...] | None, _TAGS, "All its tags from now on."] = None
    expires_at: Annotated[Ends | Unset, "Null: it is kept for good."] = UNSET

    MORE: ClassVar[Json] = {
        "anyOf": [when_given("tags"), {"required": [EXPIRES_AT]}],
        "description": "What is to be changed: at least one field.",
        "additionalProperties": False,
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        known = [f"{place}{name}" for name in ("tags", EXPIRES_AT, *NOT_EDITED)]
        delete_options.refuse_unknown((f"{place}{name}" for name in given), known, "field")
        for name in NOT_EDITED:
            if given.get(name) is not None:
                raise BadRequest(
                    f"{place}{name} cannot be changed: tags and expiresAt can; data is "
                    "replaced by POST /memories with the memory's id",
                    param=f"{place}{name}",
                )
        if given.get("tags") is None and EXPIRES_AT not in given:
            raise BadRequest(f"{place}tags or {place}expiresAt is required", param=f"{place}tags")

    def edit(self) -> Edit:
        return Edit(tags=UNSET if self.tags is None else self.tags, expires=self.expires_at)


class BatchUpdate(Shape, frozen=True):
    ids: Annotated[list[str], _MEMORY_IDS]
    update: Annotated[AgentMemoryEdit, named("AgentMemoryEdit")]


class ListFilters(Shape, frozen=True):
    thread_id: Annotated[str | None, AN_ID] = None
    kind: Annotated[str | None, A_KIND] = None
    tags: Annotated[tuple[str, ...], TAGS] = ()

    def wanted(self) -> MemoryFilter:
        return MemoryFilter(kind=self.kind, thread_id=self.thread_id, tags=self.tags)


class AgentFilters(Shape, frozen=True):
    """Filters in a body. Unknown and empty filters are refused, since ignoring a filter would match
    more memories."""

    agent_id: Annotated[str, A_MANY, "`*`: every agent."]
    subject_id: Annotated[str, A_MANY, "`*`: every subject.", NOT_NULL] = ""
    thread_id: Annotated[str | None, AN_ID, NOT_NULL] = None
    kind: Annotated[str | None, A_KIND, NOT_NULL] = None
    tags: Annotated[tuple[str, ...], _SOME_TAGS, NOT_NULL] = ()

    MORE: ClassVar[Json] = {
        "additionalProperties": False,
        "anyOf": [
            *(when_given(name, {"enum": [ALL, None]}) for name in (AGENT, SUBJECT)),
            *(when_given(name) for name in ("threadId", "kind", "tags")),
        ],
        "description": "All of these must hold; none may be null or empty. `*` alone is a 400.",
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(cls, given, place.rstrip("."))
        check_subject(given, place)
        for name, value in given.items():
            if value is None:
                _names_nothing(f"{place}{name}")
        if AGENT not in given:
            raise BadRequest(
                f"{place}{AGENT} is required; {ALL} means every agent", param=f"{place}{AGENT}"
            )

    def wanted(self) -> MemoryFilter:
        return MemoryFilter(kind=self.kind, thread_id=self.thread_id, tags=self.tags)


class BatchDeletion(Shape, frozen=True):
    """Body of a batch deletion: `ids`, or filters that select the memories."""

    ids: Annotated[Sequence[str], _MEMORY_IDS] = ()
    filters: AgentFilters | None = None
    dry_run: Annotated[bool, YES_OR_NO, "Count them, and delete nothing."] = msgspec.field(
        default=False, name="dry_run"
    )
    purge: Annotated[bool, YES_OR_NO, "Erase them at once, for good."] = False

    MORE: ClassVar[Json] = {
        "additionalProperties": False,
        "oneOf": [when_given("ids"), when_given("filters")],
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if (given.get("ids") is None) == (given.get("filters") is None):
            raise BadRequest("give either ids or filters", param="ids")

    def scopes(self, tenant: str) -> AgentScopes | None:
        """Return the scopes of the filters, or None if `ids` select the memories. Raises
        `BadRequest` if the filters would match every memory."""
        if self.filters is None:
            return None
        scopes = scopes_of(self.filters.agent_id, self.filters.subject_id, tenant)
        if self.filters.wanted() == ANY and scopes.agent is None and not scopes.subject:
            raise BadRequest(
                "filters must name at least one of an agent, a subject, threadId, kind or tags",
                param="filters",
            )
        return scopes

    def wanted(self) -> MemoryFilter:
        wanted = ANY if self.filters is None else self.filters.wanted()
        return replace(wanted, superseded=True, expired=True)
