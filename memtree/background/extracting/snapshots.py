"""Snapshots: a few lines on what a part of a conversation was about, without a model.

Every fifth user message ends a window. Its key is the address of the prefix that ends there, so
branches that share this prefix share the snapshot; its text covers the messages since the previous
window, and the answer once it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtree.conversation.history import History
from memtree.conversation.message import RESULT_ROLES
from memtree.conversation.side_requests import LEADING, is_side
from memtree.digests.clauses.clause import SourcePassage, untorn
from memtree.digests.summarize import Extract, leaf_summary, node_summary
from memtree.text import secrets, tokens
from memtree.text.pasted.blocks import injected
from memtree.text.spans import blanked

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
    text = history.view(at).text
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
        role = history.facts[at].role
        for kind, text in _texts(history, at, role):
            if text.strip():
                yield SourcePassage(role, text, kind)


def _texts(history: History, at: int, role: str) -> Iterator[tuple[str, str]]:
    message = history.messages[at]
    if role in RESULT_ROLES:
        yield "result", read_start(history.view(at).text, READ_RESULT)
        return
    if message.calls:
        yield "text", read_start(message.words, READ)
        for call in message.calls:
            yield "call", read_start(f"{call.name} {call.arguments[: READ + BEYOND]}", READ_RESULT)
        return
    yield "text", read_start(history.view(at).text, READ)


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
