"""Check what goes out together."""

from __future__ import annotations

import asyncio

from memtree_proxy.server.connection import AnswerWriter


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def lines() -> tuple[AnswerWriter, Wire]:
    wire = Wire()
    return AnswerWriter(wire, asyncio.get_running_loop()), wire


async def test_a_head_goes_out_with_its_body():
    writer, wire = lines()
    for _ in range(2):  # the next answer of the connection, too
        writer.write(b"head ")
        writer.write(b"body")
        writer.write(b"")
        writer.end()
    await asyncio.sleep(0)
    assert wire.written == [b"head body", b"head body"]


async def test_a_head_alone_waits_for_one_turn():
    writer, wire = lines()
    writer.write(b"head")
    assert wire.written == []
    await asyncio.sleep(0)
    assert wire.written == [b"head"]
    writer.write(b"event")
    assert wire.written == [b"head", b"event"]


async def test_an_answer_without_a_body_is_out_at_its_end():
    writer, wire = lines()
    writer.write(b"head")
    writer.end()
    assert wire.written == [b"head"]


async def test_closing_writes_what_waits():
    writer, wire = lines()
    writer.write(b"head")
    writer.close()
    assert (wire.written, writer.is_closing()) == ([b"head"], True)
