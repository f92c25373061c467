"""Made-up histories for tests that need long ones: the demo's generator, and plain chats."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

from memtree_proxy.server.demo_session import session

WORDS = (
    "river garden letter window engine market summer kitchen bridge mountain camera pocket signal "
    "harbour ticket village pencil winter doctor station library orange copper velvet anchor"
).split()


def coding(tokens: int, seed: int = 1) -> list[dict[str, Any]]:
    """A coding session with tool calls; the last message is the assistant's."""
    messages, _ = session(tokens, seed)
    return [message.fields for message in messages]


def chat(turns: int, seed: int = 1, words: int = 40) -> list[dict[str, Any]]:
    """User and assistant in turn, each about `words` words."""
    roles = ("user", "assistant")
    return [
        {"role": roles[i % 2], "content": content}
        for i, content in enumerate(_contents(turns, seed, words))
    ]


@lru_cache(maxsize=32)
def _contents(turns: int, seed: int, words: int) -> list[str]:
    random = Random(seed)
    return [" ".join(random.choices(WORDS, k=words)) + f" {i}." for i in range(turns)]
