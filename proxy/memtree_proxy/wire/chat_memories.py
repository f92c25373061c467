"""Define requests and answers of a chat's memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from memtree.errors import BadRequest
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.memory import CATEGORIES, MemorySource
from memtree.memories.ports import MemoryFilter
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire.answer import Answer, Shown
from memtree_proxy.wire.curation import SAID_OF_CHAT
from memtree_proxy.wire.json_schema import Json, when_given
from memtree_proxy.wire.memory_rows import (
    MAYBE_STRING,
    ShownRow,
    hits_of,
    of_memory,
    page_of,
    saved,
    state_of,
)
from memtree_proxy.wire.shape import Shape, Type, names
from memtree_proxy.wire.types import (
    A_SWITCH,
    IS_STANDING,
    MEMORY_ID,
    MEMORY_TEXT,
    NO_NUL,
    TAGS,
    TAGS_SAY,
    one_of,
)
from memtree_proxy.wire.user_memories import edit_of

MAX_MESSAGE_ID = 1_000  # characters

# -- posted ----------------------------------------------------------------------------------


def _message_id(value: object, name: str) -> str:
    message = fields.text(value, name) or ""
    if not 0 < len(message) <= MAX_MESSAGE_ID or "\0" in message:
        raise BadRequest(f"{name} must be 1 to {MAX_MESSAGE_ID} characters", param=name)
    return message


_MESSAGE_ID = Type(
    {**NO_NUL, "type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_ID}, _message_id
)
_CATEGORY, _SOURCE_TYPE = one_of(*CATEGORIES), one_of("model", "user")
_Category = Annotated[str | None, _CATEGORY, "Inferred from the content when absent."]


class NewChatMemory(Shape, frozen=True):
    message_id: Annotated[str, _MESSAGE_ID, "Kept as it is; no messages are."]
    content: Annotated[str, MEMORY_TEXT]
    category: _Category = None
    tags: Annotated[tuple[str, ...], TAGS, TAGS_SAY] = ()
    standing: Annotated[bool | None, IS_STANDING] = None

    MORE: ClassVar[Json] = {
        "description": "A memory to be made from a message of the chat.",
        "additionalProperties": False,
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(given, names(cls), "field")

    def draft(self) -> MemoryDraft:
        return MemoryDraft(
            self.content,
            category=self.category,
            tags=self.tags,
            source_type="user",
            standing=self.standing,
            source=MemorySource(message=self.message_id),
        )


class ChatMemoryEdit(Shape, frozen=True):
    content: Annotated[str | None, MEMORY_TEXT] = None
    category: _Category = None
    tags: Annotated[tuple[str, ...] | None, TAGS, TAGS_SAY] = None
    standing: Annotated[bool | None, IS_STANDING] = None

    MORE: ClassVar[Json] = {
        "description": "What is to be changed: at least one field.",
        "additionalProperties": False,
        "anyOf": [when_given(name) for name in ("content", "category", "tags", "standing")],
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(given, names(cls), "field")
        if all(value is None for value in given.values()):
            raise BadRequest("content is required", param="content")

    def edit(self) -> Edit:
        return edit_of(self.content, self)


# -- queries ---------------------------------------------------------------------------------


class ChatFilters(Shape, frozen=True, rename=None):
    """Filters of a list or a search; the attributes are named as in `MemoryFilter`."""

    category: Annotated[str | None, _CATEGORY, "Memories of this category alone."] = None
    source_type: Annotated[str | None, _SOURCE_TYPE, "Memories that came this way alone."] = None
    tainted: Annotated[bool | None, A_SWITCH, "Memories that are tainted, or that are not."] = None
    standing: Annotated[
        bool | None, A_SWITCH, "Memories that stand in every prompt, or do not."
    ] = None
    conflicts: Annotated[
        bool | None, A_SWITCH, "Memories that may replace another one, or may not."
    ] = None

    def wanted(self) -> MemoryFilter:
        return MemoryFilter(**msgspec.structs.asdict(self))


class ChatListing(ChatFilters, frozen=True):
    include: Annotated[str | None, one_of("deleted"), "Those as well."] = None

    def wanted(self) -> MemoryFilter:
        given = msgspec.structs.asdict(self)
        deleted = given.pop("include") is not None
        return MemoryFilter(**given, deleted=deleted)


FILTERS = names(ChatFilters)

# -- answered --------------------------------------------------------------------------------

ROW: Answer[ShownRow] = {
    "id": Shown(MEMORY_ID, "memory.id"),
    **of_memory(SAID_OF_CHAT),
    "source_type": Shown(
        _SOURCE_TYPE.schema,
        "memory.source_type",
        "`model`: saved by the tool `save_memory`; `user`: by a person or a program.",
    ),
    "message_id": Shown(
        MAYBE_STRING,
        lambda of: (of.memory.source.message or None) if of.memory.source else None,
        "The `messageId` that it was made from.",
    ),
    **state_of("content"),
}
SAVED, HITS = saved("content"), hits_of(ROW)
PAGE = page_of(ROW, "ChatMemory", "chat")

# -- the document ----------------------------------------------------------------------------
