"""The beginning of a conversation, by which it is recognised if its client names none.

The first message alone is not enough: many conversations begin with the same few words. So the
first answer is part of it, since two answers are hardly ever equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtree.errors import BadRequest
from memtree.history import address_chain
from memtree.history.chat_history import History
from memtree.history.message import SYSTEM_ROLES, Message, Volatile

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
