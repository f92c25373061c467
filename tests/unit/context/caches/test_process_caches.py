"""After a deletion no module of ours holds a word of what was posted."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from memtree.context.context_memory import CompressRequest
from memtree.conversation.message import Message
from memtree.process.bounded import SizedRows
from memtree.text.terms import is_common
from tests.answered import compressed
from tests.programs.sessions import chat
from tests.properties.process import World

WORD = "zanzibar"


def history() -> tuple[Message, ...]:
    """A chat in which a word stands in the title, in names and in lines."""
    told: list[dict[str, Any]] = [
        {"role": "user", "content": f"Why did the {WORD} service fail in {WORD}/core.py?"}
    ]
    for number, one in enumerate(chat(200, words=70)):
        error = f"{WORD.title()}Error: {WORD}_{number}.py failed. {one['content']}"
        told.append({**one, "content": error} if number % 4 == 0 else one)
    return tuple(map(Message.of, [*told, {"role": "user", "content": "Continue."}]))


def holders(word: str) -> list[str]:
    """Names of module-level caches in which the word stands."""
    modules = [module for name, module in sys.modules.items() if name.startswith("memtree")]
    return sorted(
        {
            f"{module.__name__}.{name}"
            for module in modules
            for name, value in vars(module).items()
            if isinstance(value, (type(is_common), SizedRows, dict))
            and name[:2] != "__"
            and any(word in text.lower() for text in texts(value))
        }
    )


def texts(holder: object) -> Iterator[str]:
    seen: set[int] = set()
    waiting = [holder]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif id(value) not in seen and not isinstance(value, (ModuleType, FunctionType, type)):
            seen.add(id(value))
            waiting += gc.get_referents(value)


async def test_no_cache_of_a_module_outlives_a_deletion() -> None:
    world = World()
    ask = CompressRequest("t", history(), target=3_000, hard=True, mode="stable")
    await compressed(world.used, ask)
    await compressed(world.used, replace(ask, mode="fresh"))
    assert len(holders(WORD)) > 2
    await world.used.forget_tenant("t")
    assert holders(WORD) == []
