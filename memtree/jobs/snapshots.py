"""Snapshots: a few lines on what a part of a conversation was about.

Every fifth user message ends a window. Its key is the address of the prefix that ends there, so
branches that share this prefix share the snapshot; its text covers the messages since the previous
window, and the answer once it is there. A deleted snapshot is not made again.

The text is extracted, or written by a model if one is configured and its text passes the checks of
summaries. The model is prompted as for a leaf of a tree, within the same daily limits, and called
once, when the answer is there.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.clock import Clock
from memtree.digests.clause import SourcePassage, untorn
from memtree.digests.summarize import Extract, leaf_summary, node_summary
from memtree.errors import BadRequest, MemoryLimit, SecretRejected
from memtree.history.chat_history import History
from memtree.history.message import RESULT_ROLES
from memtree.history.side_requests import LEADING, is_side
from memtree.jobs.spending import Spending
from memtree.memories.draft import MemoryDraft
from memtree.memories.draft import new_memory as made
from memtree.memories.memory import EXTRACTED, SNAPSHOT, Memory, MemorySource
from memtree.memories.memory_store import MemoryFilter, MemoryStore
from memtree.memories.saving import MemorySaving
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ExtractedMessages
from memtree.ports.models import Summarizer
from memtree.process.bounded import CacheLimits, SizedRows
from memtree.text import secrets, tokens
from memtree.text.pasted_texts import injected
from memtree.text.spans import blanked
from memtree.tree import summary_prompts
from memtree.tree.summary_check import check
from memtree.tree.summary_prompts import SourcePiece, Task
from memtree.tree.summary_replies import mended

USER_MESSAGES = 5  # in a window
MOST_TOKENS = 200  # in a snapshot
ANCHOR_TOKENS = 60  # of them, at most, for names of people, files and things
READ = 6_000  # characters of a user's message or an answer that are read
READ_RESULT = 1_000  # the same for a call, or a tool result
BEYOND = 4_096  # characters read beyond them, so that a secret is recognised whole
MOST_MESSAGES = 240  # in a window: the first quarter and the last ones
PASSAGES = 16  # summarised at once
# A tool result in the text of agents that describe their tools in the prompt.
_RESULT = re.compile(r"\s{0,20}\[[A-Za-z_][\w.-]{0,80}(?: for '[^\n]{0,1000}')?\] Result:")


@dataclass(frozen=True, slots=True)
class SnapshotWindow:
    """Messages [start, end) of a history. `key`: the address of the prefix that ends with the
    window's last user message. `answered`: the answer to that message is in the window and
    complete, so the text will not change."""

    key: bytes
    start: int
    end: int
    answered: bool


def windows(history: History) -> list[SnapshotWindow]:
    """Return all windows of a history, oldest first."""
    user_indexes = [at for at, fact in enumerate(history.facts) if fact.role == "user"]
    user_indexes = [at for at in user_indexes if _is_users(history, at)]
    snapshots: list[SnapshotWindow] = []
    for number in range(USER_MESSAGES - 1, len(user_indexes), USER_MESSAGES):
        last, more = user_indexes[number], number + 1 < len(user_indexes)
        end = user_indexes[number + 1] if more else len(history)
        start = snapshots[-1].end if snapshots else 0
        answered = more or _ends_in_answer(history)
        snapshots.append(SnapshotWindow(history.addresses[last + 1], start, end, answered))
    return snapshots


def snapshot_text(history: History, start: int, end: int) -> str:
    """Summarise messages [start, end) in one line of at most 200 tokens: headline, content, and the
    names in it; "" if they hold no word. Secrets are masked, code is left out."""
    passages = list(_passages(history, start, end))
    if not passages:
        return ""
    made = _summary(passages)
    names = _fitting(made.anchors, ANCHOR_TOKENS)
    repeated = made.headline.rstrip(".") in made.body
    parts = [made.body] if repeated else [made.headline, made.body]
    text = " ".join(part if part[-1:] in ".!?…。！？" else f"{part}." for part in parts if part)
    # Counted as one text, since joining may cost a token.
    room = MOST_TOKENS - 2 - tokens.count(f" [{names}]") if names else MOST_TOKENS
    text = _cut(secrets.mask(text), room)
    return f"{text} [{names}]" if names else text


def _is_users(history: History, at: int) -> bool:
    """Return True if a person wrote it: no tool result, no instruction by the client, no block that
    clients add automatically."""
    text = history.view(at).own
    if not text.strip() or _RESULT.match(text):
        return False
    before = history.messages[: min(at, LEADING)]
    return not is_side((*before, history.messages[at]), tools=False)


def _ends_in_answer(history: History) -> bool:
    last = history.facts[-1]
    return last.role == "assistant" and not last.calls


def _passages(history: History, start: int, end: int) -> Iterator[SourcePassage]:
    chosen: Sequence[int] = range(start, min(end, len(history)))
    if len(chosen) > MOST_MESSAGES:
        first = MOST_MESSAGES // 4
        chosen = (*chosen[:first], *chosen[first - MOST_MESSAGES :])
    for at in chosen:
        role, name = history.facts[at].role, history.messages[at].name
        for kind, text in _texts(history, at, role):
            if text.strip():
                yield SourcePassage(role, text, kind, name=name)


def _texts(history: History, at: int, role: str) -> Iterator[tuple[str, str]]:
    message = history.messages[at]
    if role in RESULT_ROLES:
        yield "result", read_start(history.view(at).text, READ_RESULT)
        return
    if message.calls:
        yield "text", read_start(message.said, READ)
        for call in message.calls:
            yield "call", read_start(f"{call.name} {call.arguments[: READ + BEYOND]}", READ_RESULT)
        return
    yield "text", read_start(history.view(at).own, READ)


def read_start(text: str, most: int) -> str:
    """Return the beginning of a text without secrets and without blocks that this server added."""
    ours = injected(text[: most + BEYOND])
    shown = blanked(text[: most + BEYOND], ours) if ours else text[: most + BEYOND]
    return secrets.mask(shown)[:most]


def _summary(passages: Sequence[SourcePassage]) -> Extract:
    level = [leaf_summary(passages[at : at + PASSAGES]) for at in range(0, len(passages), PASSAGES)]
    height = 1
    while len(level) > 1:
        level = [
            node_summary(level[at : at + PASSAGES], height) for at in range(0, len(level), PASSAGES)
        ]
        height += 1
    return level[0]


def _fitting(names: Sequence[str], most: int) -> str:
    """Return the first names, as many as fit."""
    kept: list[str] = []
    for name in names:
        if len(name) <= 60 and tokens.count(", ".join((*kept, name))) <= most:
            kept.append(name)
    return ", ".join(kept)


def _cut(text: str, most: int) -> str:
    if tokens.count(text) <= most:
        return text
    cut = tokens.prefix(text, most - 1)
    return untorn(f"{cut.rpartition(' ')[0] or cut}…")


# ---------------------------------------------------------------- written by a model

BODY, HEADLINE = 130, 18  # tokens; each may be exceeded by a fifth, 200 in all at most
WRITTEN_TOKENS = 200
READ_MESSAGE, READ_ALL = 3_000, 24_000  # characters of one message, and of all
ROOM_TIMES, ROOM_BESIDE = 2, 40  # as in the summariser
ID = "1"


class ModelSnapshots:
    """Summarises parts of conversations by a model."""

    def __init__(self, summarizer: Summarizer, spending: Spending) -> None:
        self._summarizer, self._spending = summarizer, spending

    async def write(self, history: History, start: int, end: int) -> str:
        """Summarise messages [start, end). Returns "" if the model wrote nothing usable. Raises
        `Unavailable` if the call should be repeated later."""
        task = await asyncio.to_thread(_task, history, start, end)
        if not task.sources:
            return ""
        messages = summary_prompts.prompt([task])
        size = sum(tokens.count_many(message["content"] for message in messages))
        room = ROOM_TIMES * (BODY + HEADLINE) + ROOM_BESIDE
        written = await self._spending.paid(
            history.tenant, size, room, lambda: self._summarizer.write([task])
        )
        draft = written.drafts.get(ID) if written else None
        if draft is None:
            return ""
        draft = mended(draft)
        text = secrets.mask(f"{draft.headline.rstrip('.')}. {draft.body}")
        accepted = not await asyncio.to_thread(check, draft, task, tokens.count)
        return text if accepted and tokens.count(text) <= WRITTEN_TOKENS else ""

    async def close(self) -> None:
        await self._summarizer.close()


def _task(history: History, start: int, end: int) -> Task:
    masked = summary_prompts.leaf_task(ID, list(_pieces(history, start, end)))
    return Task(ID, masked.kind, 0, masked.sources, cap=BODY, headline_cap=HEADLINE)


def _pieces(history: History, start: int, end: int) -> Iterator[SourcePiece]:
    """Yield the texts of user and assistant, as far as there is room; tool results are left out."""
    room = READ_ALL
    for at in range(start, min(end, len(history))):
        if room <= 0:
            return
        role = history.facts[at].role
        if role not in ("user", "assistant"):
            continue
        text = history.view(at).own if role == "user" else history.messages[at].said
        text = read_start(text, min(READ_MESSAGE, room)).strip()
        room -= len(text)
        if text:
            yield SourcePiece(role, at, text, name=history.messages[at].name)


# ---------------------------------------------------------------- stored

log = logging.getLogger("memtree.indexer")

ROW_BYTES = 800  # of a remembered window: a scope, an address, a state

State = tuple[int, bool]  # where a window ended when it was stored, and True if it was answered


class SnapshotStore(MemoryStore, ExtractedMessages, Protocol):
    """Ports of the store that snapshots need."""


class SnapshotKeeper:
    """Stores snapshots of conversations, and remembers which it has stored. One per process.
    `most`: memories that a tenant may have."""

    def __init__(
        self,
        store: SnapshotStore,
        saving: MemorySaving,
        clock: Clock,
        new_id: Callable[[], str],
        writer: ModelSnapshots | None = None,
        *,
        most: int = 0,
        cache_bytes: int = CacheLimits.of().snapshots,
    ) -> None:
        self._store, self._saving, self._clock = store, saving, clock
        self._new_id, self._writer, self._most = new_id, writer, most
        self._kept: SizedRows[tuple[Scope, bytes], State] = SizedRows(
            cache_bytes, lambda *_: ROW_BYTES
        )

    @property
    def nbytes(self) -> int:
        """Return the bytes held by the remembered windows."""
        return self._kept.nbytes

    async def lacking(self, scope: Scope, history: History) -> list[SnapshotWindow]:
        """Return the windows that this process has not stored in their present state, oldest
        first."""
        if not self._due(scope, history):
            return []
        all_windows = await asyncio.to_thread(windows, history)
        return [each for each in all_windows if self._kept.get((scope, each.key)) != _state(each)]

    def _due(self, scope: Scope, history: History) -> bool:
        """Return True if there may be new snapshots. Checking every message takes a while, and a
        growing chat gets a new window only with every fifth request."""
        user_messages = 0
        for at in range(len(history), -1, -1):
            state = self._kept.get((scope, history.addresses[at]))
            if state is not None and state[1]:
                return False
            user_messages += at > 0 and history.facts[at - 1].role == "user"
            if user_messages >= USER_MESSAGES:
                return True
        return False

    async def keep(self, scope: Scope, history: History, window: SnapshotWindow) -> Memory | None:
        """Store the snapshot and return it if it is new or has changed. Raises store errors, and
        `Unavailable` if a model fails."""
        memory = None
        if not self._writer or await self._wanted(scope, window):
            memory = await self._put(scope, history, window)
        self._kept.put((scope, window.key), _state(window))
        return memory

    async def _wanted(self, scope: Scope, window: SnapshotWindow) -> bool:
        """Return True if a model should write this window."""
        wanted = MemoryFilter(kind=SNAPSHOT, thread_id=window.key.hex(), deleted=True, expired=True)
        known = await self._store.page(scope, wanted, limit=1)
        return window.answered and not known.memories

    async def _put(self, scope: Scope, history: History, window: SnapshotWindow) -> Memory | None:
        mode, text = "model", ""
        if self._writer is not None:
            text = await self._writer.write(history, window.start, window.end)
        if not text:
            mode = "rule"
            text = await asyncio.to_thread(snapshot_text, history, window.start, window.end)
        if not text:
            return None
        now = self._clock.now()
        address = window.key.hex()
        draft = MemoryDraft(
            text=text,
            kind=SNAPSHOT,
            category=SNAPSHOT,
            source_type=EXTRACTED,
            capture_mode=mode,
            tainted=True,  # of all who spoke in the conversation
            thread_id=address,
            source=MemorySource(address=address, recorded=now),
        )
        try:
            new = made(draft, self._new_id(), now)
            memory = await self._store.put_snapshot(scope, window.key, new, most=self._most)
        except (SecretRejected, BadRequest, MemoryLimit) as error:
            log.info("extraction.snapshot_rejected code=%s", error.code)
            return None
        if memory is not None:
            await self._saving.keep_vectors(scope, [(memory, None)])
        return memory


def _state(window: SnapshotWindow) -> State:
    return window.end, window.answered
