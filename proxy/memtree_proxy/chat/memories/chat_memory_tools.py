"""The tools with which a model saves to and recalls from its chat's memory: `save_memory` and
`recall_memory`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtree.days import written
from memtree.dialects.tool_definitions import RECALL, SAVE
from memtree.memories.book import MemoryBook
from memtree.memories.draft import MemoryDraft, checked_text
from memtree.memories.duplicates import NearMemory
from memtree.memories.fields.times import shown
from memtree.memories.injection.rendering import FACT
from memtree.memories.memory import Memory
from memtree.memories.relation.relation import Relation
from memtree.memories.scope import Scope
from memtree.memories.search.ranking import MemoryHit
from memtree.text import tokens
from memtree.text.own_lines import without_signs
from memtree_proxy.http.decoding import NOT_BLANK, Posted, converted
from memtree_proxy.server_tools.calls import ToolHandler

HITS = 5
MOST_TOKENS = 20_000  # of one result
LEAST_CHARS = 200  # of a content that is shortened
CUT = " [...]"

Said = Annotated[str, Meta(pattern=NOT_BLANK)]


class ToolArguments(Posted, frozen=True, forbid_unknown_fields=False):
    """Arguments as a model writes them: numbers may be strings, and what a tool does not know is
    left out, since an error costs the answer another round."""


class ToSave(ToolArguments, frozen=True):
    content: Said
    category: Literal["preference", "fact", "instruction"] | None = None


class ToRecall(ToolArguments, frozen=True):
    query: Said


class ChatMemoryTools:
    """Tools with which a model saves and finds memories of the chat. `others_spoke`: others than
    the user contributed to this turn, so that the model may save somebody else's idea. The same
    holds once it has read text from one: older messages, or a tainted memory."""

    def __init__(
        self, book: MemoryBook, scope: Scope, max_text_chars: int, *, others_spoke: bool
    ) -> None:
        self._book = book
        self._scope = scope
        self._max_text_chars = max_text_chars
        self.others_spoke = others_spoke

    def handlers(self) -> dict[str, ToolHandler]:
        """Return the handlers of the calls, by the name of the tool."""
        return {SAVE: self._save, RECALL: self._recall}

    async def _save(self, arguments: Mapping[str, Any], room: int) -> str:
        call = converted(ToSave, arguments, strict=False)
        draft = MemoryDraft(
            checked_text(call.content, self._max_text_chars, "content"),
            category=call.category,
            source_type="model",
            tainted=self.others_spoke,
        )
        saved = await self._book.save(self._scope, draft)
        near = [item for item in saved.near if item.relation is Relation.POSSIBLE_UPDATE]
        reported = [saved.memory] if saved.existing else [item.memory for item in near]
        self._read(reported)
        return save_result(saved.memory, near, room, existing=saved.existing)

    async def _recall(self, arguments: Mapping[str, Any], room: int) -> str:
        result = await self._book.search(
            self._scope, converted(ToRecall, arguments, strict=False).query, limit=HITS
        )
        self._read([hit.memory for hit in result.hits])
        return recall_result(result.hits, room, self._book.outdated)

    def _read(self, memories: Sequence[Memory]) -> None:
        self.others_spoke |= any(memory.tainted for memory in memories)


def save_result(
    memory: Memory, near: Sequence[NearMemory], room: int, *, existing: bool = False
) -> str:
    """Return the result of a save for the model. `existing`: it was stored before, and nothing
    changed. `room`: tokens."""

    def made(most: int | None) -> dict[str, Any]:
        shown = {"saved": not existing, "memory": _memory(memory, most)}
        updates = [{**_memory(item.memory, most), "differs": item.differs} for item in near]
        return shown if existing else {**shown, "possible_update_of": updates}

    return _fitted(made, 1 + len(near), room)


def recall_result(
    hits: Sequence[MemoryHit], room: int, outdated: Callable[[Memory], bool] = lambda _: False
) -> str:
    """Return the result of a search for the model, best hit first. `room`: tokens. `outdated`:
    returns True for memories that may be outdated."""

    def made(most: int | None) -> dict[str, Any]:
        rows = [
            {
                "id": hit.memory.id,
                "content": _cut(hit.memory.text, most),
                "category": category_shown(hit.memory),
                "relevance": round(hit.relevance, 2),
                **({"weak": True} if hit.weak else {}),
                "created_at": shown(hit.memory.created),
                "day": written(hit.memory.said),
                **({"may_be_out_of_date": True} if outdated(hit.memory) else {}),
            }
            for hit in hits
        ]
        return {"memories": rows}

    return _fitted(made, len(hits), room)


def category_shown(memory: Memory) -> str | None:
    """Return the category to show. A tainted memory is shown as a fact, whatever it was saved as:
    never as an instruction."""
    return FACT if memory.tainted else memory.category


def _memory(memory: Memory, most: int | None) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": _cut(memory.text, most),
        "category": category_shown(memory),
        "created_at": shown(memory.created),
    }


def _fitted(made: Callable[[int | None], dict[str, Any]], texts: int, room: int) -> str:
    """Return the JSON with whole texts if they fit, else with texts cut to equal lengths, of at
    least `LEAST_CHARS`."""
    room = min(room, MOST_TOKENS)
    most = 4 * room // max(1, texts)  # English has four characters a token
    result = msgspec.json.encode(made(None)).decode()
    while tokens.count(result) > room:
        most = max(LEAST_CHARS, most)
        result = msgspec.json.encode(made(most)).decode()
        if most == LEAST_CHARS:
            break
        most //= 2
    return result


def _cut(text: str, most: int | None) -> str:
    text = without_signs(text)
    return text if most is None or len(text) <= most else text[:most] + CUT
