"""Read the beginning of a conversation: what names it, and the standing context in it.

A conversation is recognised by its beginning if its client names none. The first message alone is
not enough: many conversations begin with the same few words. So the first answer is part of it,
since two answers are hardly ever equal.

Standing context (`preamble`) stands in blocks of the first user message: coding agents repeat their
instructions there with each request (CLAUDE.md, AGENTS.md, the state of the repository). Such
blocks are volatile: neither hashed nor indexed. So when that message is folded, they are sent
verbatim before the memory text. They are read from the current request and never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtree.errors import BadRequest
from memtree.history import address_chain
from memtree.history.chat_history import History
from memtree.history.message import SYSTEM_ROLES, TEXT_PARTS, Message, Volatile
from memtree.text import tokens

SAID = 300  # bytes of a beginning, as posted, that two conversations hardly share by chance


def origin(posted: History, index: int) -> str:
    """Return the address (hex) of the beginning of the conversation that contains a message; "" if
    the message is part of that beginning. A history with the same beginning but without the message
    is another branch."""
    answered, size = False, 0
    for length in range(1, index + 1):
        answered = answered or posted.facts[length - 1].role == "assistant"
        size += len(posted.messages[length - 1].raw)
        if answered and size >= SAID:
            return posted.addresses[length].hex()
    return ""


def under(tenant: str, messages: Sequence[Message], volatile: Volatile) -> str:
    """Return a name for the system messages at the start of a conversation, made of their digests;
    "" if none can be read."""
    digests: list[bytes] = []
    try:
        for message in messages:
            if message.role not in SYSTEM_ROLES:
                break
            digests.append(address_chain.digest(message, volatile))
    except (BadRequest, RecursionError):
        return ""
    chain = address_chain.chain(address_chain.root(tenant), digests)
    return chain[-1].hex() if digests else ""


def keys_of(tenant: str, messages: Sequence[Message], volatile: Volatile) -> tuple[str, ...]:
    """Return the names of a conversation, made from its beginning, which may not have been
    validated yet. The first is made of its first message and first answer, the second of the first
    message alone, as it was before there was an answer. Empty if the user says nothing."""
    digests: list[bytes] = []
    roles = ["user", "assistant"]
    try:
        for message in messages:
            if message.role == roles[0]:
                digests.append(address_chain.digest(message, volatile))
                del roles[0]
                if not roles:
                    break
    except (BadRequest, RecursionError):
        return ()
    chain = address_chain.chain(address_chain.root(tenant), digests)
    return tuple(digest.hex() for digest in reversed(chain))


@dataclass(frozen=True, slots=True)
class Preamble:
    """`text` if the client's first user message is a string, or `parts` if it is a list: (index of
    the posted message, index of its content part)."""

    text: str = ""
    parts: tuple[tuple[int, int], ...] = ()
    tokens: int = 0

    def __bool__(self) -> bool:
        return bool(self.text or self.parts)


NONE = Preamble()


def preamble(history: History, start: int = 0, end: int | None = None) -> Preamble:
    """Return the carried blocks in the first user message of messages [start, end).

    In a string: the closed blocks before any other text. In a list: the text parts that hold
    nothing but such blocks. If a message holds nothing else, the next one is read as well, as long
    as it is the user's and of the same form.
    """
    facts = history.facts
    end = len(facts) if end is None else min(end, len(facts))
    first = next((at for at in range(start, end) if facts[at].role == "user"), end)
    listed = first < end and isinstance(history.messages[first].content, list)
    carried = history.volatile.carried
    texts: list[str] = []
    parts: list[tuple[int, int]] = []
    for index in range(first, end):
        message = history.messages[index]
        if facts[index].role != "user" or isinstance(message.content, list) != listed:
            break
        if listed:
            numbers, wholly = _block_parts(message, history.volatile)
            parts += [(history.posted[index], number) for number in numbers]
            texts += [message.parts[number]["text"] for number in numbers]
        else:
            blocks, wholly = _leading_blocks(message.words, history.volatile, carried)
            texts += blocks
        if not wholly:
            break
    if not texts:
        return NONE
    text = "\n\n".join(texts)
    return Preamble("" if listed else text, tuple(parts), tokens.count(text))


def _leading_blocks(text: str, volatile: Volatile, tags: tuple[str, ...]) -> tuple[list[str], bool]:
    """Return the blocks before any other text, and True if there is no other text."""
    blocks: list[str] = []
    at = 0
    for tag, start, end in volatile.blocks(text):
        if text[at:start].strip():
            return blocks, False
        if tag in tags:
            blocks.append(text[start:end])
        at = end
    return blocks, not text[at:].strip()


def _block_parts(message: Message, volatile: Volatile) -> tuple[list[int], bool]:
    """Return the indexes of the text parts that hold carried blocks only, and True if the message
    holds nothing but blocks."""
    indexes: list[int] = []
    wholly = True
    for index, part in enumerate(message.parts):
        if part["type"] not in TEXT_PARTS:
            wholly = False
            continue
        blocks, alone = _leading_blocks(part["text"], volatile, volatile.tags)
        wholly &= alone
        carried, _ = _leading_blocks(part["text"], volatile, volatile.carried)
        if alone and blocks and carried == blocks:
            indexes.append(index)
    return indexes, wholly
