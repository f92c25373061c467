"""A file is read by a process that ends: with its answer, at its limits, with whoever asked."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import time
from pathlib import Path

import msgspec
import pytest

from memtree.errors import BadRequest, RateLimited
from memtree.history import chat_history
from memtree.history.message import Volatile, read_messages
from memtree_proxy.imports import posted_file as child
from memtree_proxy.imports.conversation import raw_message
from memtree_proxy.imports.posted_file import (
    FileReader,
    ParseTask,
    PrefixQuery,
    answered,
    parsed,
    posted_file,
)

PLAIN = [{"role": "user", "content": f"<note>{at}</note> a {at}"} for at in range(20)]
DATA = json.dumps(PLAIN).encode()


def sent(data: bytes, name: str = "f", wanted: PrefixQuery | None = None) -> io.BytesIO:
    head = msgspec.msgpack.encode(ParseTask.of(name, wanted or PrefixQuery()))
    return io.BytesIO(len(head).to_bytes(8, "big") + head + data)


def test_the_child_says_what_the_parent_would() -> None:
    wanted = PrefixQuery(b"a" * 32, "t", 30, Volatile(("note",), ()))
    assert ParseTask.of("f", wanted).wanted() == wanted
    assert answered(sent(DATA, wanted=wanted)) == b"\x00" + parsed(posted_file(DATA), wanted)
    refused = answered(sent(b"PK\x03\x04", "my.zip"))
    assert refused[:1] == b"\x01"
    assert "my.zip: is a zip" in json.loads(refused[1:])["message"]


async def test_a_file_waits_for_others_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    echo = "import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write(bytes(1) + b'{}')"
    monkeypatch.setattr(child, "START", echo.replace("{}", "{{}}"))
    reader = FileReader(small=0, turn=0)
    one, other = await asyncio.gather(
        reader.read(DATA, "f", PrefixQuery()),
        reader.read(DATA, "f", PrefixQuery()),
        return_exceptions=True,
    )
    assert one == b"{}"
    assert isinstance(other, RateLimited)
    assert other.retry_after > 0
    patient = FileReader(small=0, turn=600)
    reads = (patient.read(DATA * 5_000, "f", PrefixQuery()) for _ in range(2))
    assert await asyncio.gather(*reads) == [b"{}", b"{}"]


async def test_a_small_and_a_large_file_are_read_alike() -> None:
    wanted = PrefixQuery(tenant="t", volatile=Volatile(("note",), ()))
    messages = read_messages([raw_message(message) for message in PLAIN])
    addresses = chat_history.read("t", messages, wanted.volatile).addresses
    wanted = PrefixQuery(addresses[7], "t", 30, wanted.volatile)
    here, there = FileReader(), FileReader(small=0)
    assert await there.read(DATA, "f", wanted) == await here.read(DATA, "f", wanted)
    assert json.loads(await there.read(DATA, "f", wanted))["conversations"][0]["belongs"] == 7
    for data in (b"PK\x03\x04", b"[" * 300_000, b"{}"):
        told = []
        for reader in (here, there):
            with pytest.raises(BadRequest) as caught:
                await reader.read(data, "f.json", wanted)
            told.append((caught.value.message, caught.value.param))
        assert told[0] == told[1]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
async def test_a_file_that_takes_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = b"[" + b"{}," * 8_000_000 + b"{}]"  # 24 MB, half a gigabyte when it is read
    limited = child.START.replace(
        "from memtree_proxy.imports.posted_file import main; main()",
        "from memtree_proxy.imports import posted_file; posted_file.MEMORY_BYTES = 600 << 20; "
        "posted_file.main()",
    )
    monkeypatch.setattr(child, "START", limited)
    with pytest.raises(BadRequest, match="too much memory or time"):
        await FileReader(small=0).read(bomb, "f", PrefixQuery())


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
async def test_no_process_stays_when_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = child.START.replace("main()", "0; import time; time.sleep(3600)")
    monkeypatch.setattr(child, "START", endless)
    reader = FileReader(small=0)
    task = asyncio.create_task(reader.read(DATA, "f", PrefixQuery()))
    await asyncio.to_thread(wait_for_children)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not children()
    monkeypatch.undo()
    assert await reader.read(DATA, "f", PrefixQuery())  # the next one is not kept waiting


def wait_for_children() -> None:
    end = time.monotonic() + 300
    while not children():
        assert time.monotonic() < end
        time.sleep(0.01)


def children() -> list[str]:
    """Processes of ours that read files."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"posted_file" in (path / "cmdline").read_bytes():
                found.append(path.name)
        except OSError:
            continue
    return found
