"""Recognise side requests, which a client makes for itself about its conversation.

They stand beside the chat: the compaction call over the whole history, titles, tags, commit
messages, better wordings of a prompt, the question who speaks next. Their answers never come back
as a turn of this history, so there is nothing to store, and a summary needs the unfolded history as
its source.

Recognised by the content of the request, not by its sender: an *order* (to summarise, to name, ...)
at the start of the system prompt or of the newest message, with signs that a program gives it,
namely that another model will continue from the answer, or that its form is prescribed. "Summarize
what we did today" is a turn like any other.

    >>> order = "Summarize our conversation. Another agent will continue from your summary."
    >>> is_side([Message.of({"role": "user", "content": order})], tools=False)
    True

Reads the first three messages and the newest one, some kB of each, whatever the length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memtree.history.message import SYSTEM_ROLES, Message, Volatile, check_message
from memtree.language.word_file import WordFiles

_DATA = WordFiles("side_requests")
LEADING = 3  # messages that are read from the front
OPENING = 700  # characters of a system prompt within which its order must stand
# characters of the newest message that are read: an order stands before or after data
HEAD, TAIL = 2_500, 4_000
PARTS = 4  # text parts of the newest message that are read, from the end
# Required points. A message without a history is sent whole anyway, so an error costs less there.
ENOUGH, ENOUGH_ALONE = 2, 1

_VOLATILE = Volatile()


_SUMMARY = _DATA.pattern("summary", re.IGNORECASE)
_TITLE = _DATA.pattern("title", re.IGNORECASE)
_COMMIT = _DATA.pattern("commit", re.IGNORECASE)
# The opening of a system prompt may describe the model's role.
_ROLE = _DATA.pattern("role", re.IGNORECASE)
# Phrases that no person types to a model in a chat: from known clients and their copies.
_MARKED = _DATA.pattern("marked", re.IGNORECASE)
_TASK = re.compile(r"\s*#{1,3} Task:?\s", re.IGNORECASE)
_CHAT_HISTORY = re.compile(r"</?chat_history>|^#{1,3} Chat History", re.IGNORECASE | re.MULTILINE)


@cache
def _signs(section: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(sign, re.IGNORECASE | re.MULTILINE) for sign in _DATA.entries(section))


def is_side(messages: Sequence[Message], *, tools: bool) -> bool:
    """Return True if the client made the request for itself. `messages`: as posted, system messages
    included. `tools`: True if the request has any. Raises `BadRequest` if a message that is read
    does not have the documented shape."""
    if not messages:
        return False
    for index in {*range(len(messages))[:LEADING], len(messages) - 1}:
        check_message(messages[index], f"messages[{index}]")
    newest = messages[-1]
    if tools and newest.role not in ("user", *SYSTEM_ROLES):
        return False  # an agent at work
    leading = _leading(messages)
    if any(map(_opens, leading)):
        return True
    if newest.role in SYSTEM_ROLES and len(leading) == len(messages):
        return False
    alone = not any(m.role == "assistant" for m in messages[:LEADING]) and len(messages) <= LEADING
    return any(_asks(text, alone) for text in _newest(newest))


def _leading(messages: Sequence[Message]) -> list[str]:
    openings = []
    for message in messages[:LEADING]:
        if message.role not in SYSTEM_ROLES:
            break
        openings.append(message.words)
    return openings


def _newest(message: Message) -> list[str]:
    """Return the parts of the newest message that are read: of its last text parts, without blocks
    that clients add."""
    if message.role not in ("user", *SYSTEM_ROLES):
        return []
    texts = message.text_parts
    return [_VOLATILE.strip(_window(text)) for text in texts[-PARTS:]]


def _window(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n\n{text[-TAIL:]}"


class _Order(NamedTuple):
    """A pattern, and the section of words of which it needs one to match: testing them first is 15
    times as fast."""

    pattern: re.Pattern[str]
    words: str

    def stands_in(self, text: str) -> bool:
        low = text.lower()
        may = any(word in low for word in _DATA.entries(self.words))
        return may and bool(self.pattern.search(text))


_SUMMARISES = _Order(_SUMMARY, "summary_words")
_NAMES = _Order(_TITLE, "title_words")
_COMMITS = _Order(_COMMIT, "commit_words")
_MARKS = _Order(_MARKED, "marked_words")


def _opens(text: str) -> bool:
    """Return True if the opening of a system prompt gives the model one of these orders."""
    text = text[:OPENING]
    orders = (_SUMMARISES, _NAMES, _COMMITS, _MARKS)
    return any(sign.stands_in(text) for sign in orders) or bool(_ROLE.search(text))


def _asks(text: str, alone: bool) -> bool:
    """Return True if the message is an order. `alone`: no message comes before it, so everything it
    may refer to is in it."""
    if _MARKS.stands_in(text) or (_TASK.match(text) and _CHAT_HISTORY.search(text)):
        return True
    if alone and _COMMITS.stands_in(text):
        return True
    if not (_SUMMARISES.stands_in(text) or _NAMES.stands_in(text)):
        return False
    points = 2 * _count(_signs("goes_on"), text) + _count(_signs("form"), text)
    return points >= (ENOUGH_ALONE if alone else ENOUGH)


def _count(signs: Sequence[re.Pattern[str]], text: str) -> int:
    return sum(1 for sign in signs if sign.search(text))
