"""Define bodies and parameters of the routes of users' memories, their groups and settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from memtree.errors import BadRequest, Forbidden
from memtree.memories.agents.lifetime import EXPIRES_AT
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.fields.times import future_timestamp
from memtree.memories.memory import UNSET, Unset
from memtree.memories.users.user_book import GroupDraft
from memtree.memories.users.user_categories import MAX_CATEGORY, checked_category, user_category
from memtree.memories.users.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    MOST_TOP_K,
    GroupChange,
    SettingsChange,
)
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire.agent_memories import Ends
from memtree_proxy.wire.curation import A_TIME, MAX_IDS, OWN
from memtree_proxy.wire.json_schema import NULL, Json, array, schema, when_given
from memtree_proxy.wire.shape import NOT_NULL, FromSetting, Shape, Type, TypeNow, names
from memtree_proxy.wire.types import (
    IS_STANDING,
    MEMORY_TEXT,
    NO_NUL,
    SAYS_SOMETHING,
    TAGS,
    TAGS_SAY,
    YES_OR_NO,
    clamped,
    ids,
)

# Fields of agents' bodies on the same route: a conversation to read, or memories to save.
_AGENTS_ONLY = ("conversation", "memories")
_CATEGORY: Json = {
    "type": "string",
    "maxLength": MAX_CATEGORY,
    "pattern": r"^[^\W_]([\w .:/+-]{0,62}\w)?$",
}
_OWN_CATEGORY = Type(
    _CATEGORY, lambda value, name: checked_category(fields.text(value, name) or "", name)
)
_FUTURE = TypeNow(A_TIME.schema, lambda value, name, by: future_timestamp(value, name, by.now))


_MESSAGES = Type(
    array(schema("Message"), minItems=1, maxItems=FromSetting("max_messages")),
    lambda raw, name: raw,
    reads_null=True,
    raw=True,
)


def number(value: object, name: str, low: float, high: float) -> float:
    """Return the number, clamped. Raises `BadRequest` naming the field."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise not_a_number(name)
    return float(max(low, min(high, value)))


def not_a_number(name: str) -> BadRequest:
    return BadRequest(f"{name} must be a number", param=name)


# -- memories --------------------------------------------------------------------------------

_Category = Annotated[str | None, _OWN_CATEGORY, f"{OWN} Inferred from the text when absent."]
_Ends = Annotated[
    float | None, _FUTURE, "Not found after it; must lie in the future. A date is its start."
]


class NewMemory(Shape, frozen=True, rename=None):
    text: Annotated[str, MEMORY_TEXT]
    category: _Category = None
    tags: Annotated[tuple[str, ...], TAGS, TAGS_SAY] = ()
    expires_at: _Ends = None
    standing: Annotated[bool | None, IS_STANDING] = None

    MORE: ClassVar[Json] = {"description": "A memory to be made.", "additionalProperties": False}

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        for name in _AGENTS_ONLY:
            if given.get(name) is not None:
                raise BadRequest(
                    f"{name} needs agentId: it is for agents; a user's memory is made from text",
                    param=name,
                )
        refuse_unknown(given, names(cls), "field")

    def draft(self, now: float) -> MemoryDraft:
        day = datetime.fromtimestamp(now, UTC).date()
        return MemoryDraft(
            self.text,
            category=self.category or user_category(self.text, day),
            tags=self.tags,
            source_type="user",
            standing=self.standing,
            expires=self.expires_at,
        )


class MemoryEdit(Shape, frozen=True, rename={"expires_ms": EXPIRES_AT}):
    """Fields to change; null removes an expiry. `expires_ms`: the field that agents' memories use,
    for callers who do not know whose memory it is."""

    text: Annotated[str | None, MEMORY_TEXT] = None
    category: _Category = None
    tags: Annotated[tuple[str, ...] | None, TAGS, TAGS_SAY] = None
    expires_at: _Ends | Unset = UNSET
    standing: Annotated[bool | None, IS_STANDING] = None
    expires_ms: Annotated[Ends | Unset, "The same as a number; not with `expires_at`."] = UNSET

    MORE: ClassVar[Json] = {
        "description": "What is to be changed: at least one field.",
        "additionalProperties": False,
        "anyOf": [
            *(when_given(name) for name in ("text", "category", "tags", "standing")),
            *({"required": [name]} for name in ("expires_at", EXPIRES_AT)),
        ],
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(given, names(cls), "field")
        if given.get("expires_at") is not None and given.get(EXPIRES_AT) is not None:
            raise BadRequest(f"expires_at and {EXPIRES_AT} exclude each other", param=EXPIRES_AT)
        if not any(name.startswith("expires") or given[name] is not None for name in given):
            raise BadRequest(
                "text, category, tags, standing or expires_at is required", param="text"
            )

    def edit(self) -> Edit:
        ends = [end for end in (self.expires_ms, self.expires_at) if end is not UNSET]
        expires = next((end for end in ends if end is not None), None) if ends else UNSET
        return edit_of(self.text, self, expires)


def edit_of(text: str | None, posted: Any, expires: float | Unset | None = UNSET) -> Edit:
    """Return the change that a posted edit describes. None leaves a field unchanged, except
    `expires`."""
    given = {"text": text}
    given |= {name: getattr(posted, name) for name in ("category", "tags", "standing")}
    changed: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
    return Edit(**changed, expires=expires)


class ConversationToExtract(Shape, frozen=True, rename=None):
    """Conversation to extract memories from. `messages`: raw JSON, since the reader counts messages
    before decoding them."""

    messages: Annotated[bytes, _MESSAGES]
    dry_run: Annotated[bool, YES_OR_NO, "Store nothing."] = False


# -- groups ----------------------------------------------------------------------------------

_TITLE = Type(
    {**NO_NUL, "type": "string", "pattern": SAYS_SOMETHING, "maxLength": MAX_TITLE_CHARS},
    fields.text,
)
_DESCRIPTION = Type({**NO_NUL, "type": "string", "maxLength": MAX_DESCRIPTION_CHARS}, fields.text)
_GROUP_CATEGORY = Type(_CATEGORY, fields.text)


class NewMemoryGroup(Shape, frozen=True):
    title: Annotated[str, _TITLE]
    description: Annotated[str, _DESCRIPTION] = ""
    category: Annotated[str | None, _GROUP_CATEGORY] = None

    MORE: ClassVar[Json] = {"description": "A group to be made."}

    def draft(self) -> GroupDraft:
        return GroupDraft(self.title, self.description, self.category)


class MemoryGroupEdit(Shape, frozen=True):
    """Fields of a group to change; null removes description or category."""

    title: Annotated[str | None, _TITLE] = None
    description: Annotated[str | Unset | None, _DESCRIPTION] = UNSET
    category: Annotated[str | Unset | None, _GROUP_CATEGORY] = UNSET

    MORE: ClassVar[Json] = {
        "anyOf": [when_given("title"), {"required": ["description"]}, {"required": ["category"]}]
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if given.get("title") is None and not {"description", "category"} & given.keys():
            raise BadRequest("title, description or category is required", param="title")

    def change(self) -> GroupChange:
        return GroupChange(self.title, _or_none(self.description), _or_none(self.category))


def _or_none(value: str | Unset | None) -> str | None:
    """Return the change of a text: None leaves it, "" removes it."""
    return None if isinstance(value, Unset) else value or ""


class GroupMembers(Shape, frozen=True, rename=None):
    memory_ids: Annotated[list[str], ids(MAX_IDS)]

    MORE: ClassVar[Json] = {"description": "Memories that are there."}


# -- settings --------------------------------------------------------------------------------

_TOP_K = Type(
    {"type": ["integer", "string"], "pattern": r"^\s*[+-]?[0-9]+\s*$"},
    clamped(1, MOST_TOP_K).read,
)
_SHARE = Type({"type": "number"}, lambda value, name: number(value, name, 0.0, 1.0))
_CHANGEABLE = {
    "save": "memories_save_enabled",
    "history": "memories_chat_history_enabled",
    "top_k": "top_k",
    "threshold": "score_threshold",
}


class MemorySettingsEdit(Shape, frozen=True, rename=_CHANGEABLE):
    save: Annotated[bool | None, YES_OR_NO] = None
    history: Annotated[bool | None, YES_OR_NO] = None
    top_k: Annotated[int | None, _TOP_K, "Clamped."] = None
    threshold: Annotated[float | None, _SHARE, "Clamped."] = None
    plan: Annotated[
        None,
        Type(NULL, lambda value, name: None),
        "Set with the key: a value is a 403.",
        NOT_NULL,
    ] = None

    MORE: ClassVar[Json] = {"anyOf": [when_given(name) for name in _CHANGEABLE.values()]}

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if given.get("plan") is not None:
            raise Forbidden("only the operator can set plan", param="plan")
        known = list(_CHANGEABLE.values())
        if all(given.get(name) is None for name in known):
            said = f"{', '.join(known[:-1])} or {known[-1]}"
            raise BadRequest(f"{said} is required", param=known[0])

    def change(self) -> SettingsChange:
        return SettingsChange(self.save, self.history, self.top_k, self.threshold)


# -- the document ----------------------------------------------------------------------------
