"""Check what is begun for a long history before its tree can grow."""

from __future__ import annotations

from memtree.background.stage_one import StageOne
from memtree.context.context_memory import LONG_BYTES, CompressRequest
from memtree.conversation.message import Message
from tests.properties.process import World, user


class WatchedBuilder(StageOne):
    def __init__(self) -> None:
        super().__init__(child=False)
        self.warmed = 0

    def warm(self) -> None:
        self.warmed += 1


async def test_stage_one_is_made_ready_while_a_long_history_is_read():
    builder = WatchedBuilder()
    memory = World().memory(builder)
    short = user("word " * (LONG_BYTES // 10))
    await memory.read(CompressRequest("t", (Message.of(short),)))
    assert builder.warmed == 0
    await memory.read(
        CompressRequest("t", (Message.of(short), Message.of(short), Message.of(short)))
    )
    assert builder.warmed == 1
