"""Parse each large posted file in a process of its own: both the parent's side and the child's.

Parsing 100 MB of JSON holds the GIL for seconds, in which no stream of the server would move, and a
hostile file may grow to fifty times its size in memory. The process may use no more than
`MEMORY_BYTES` and `CPU_SECONDS`; it ends with its answer, with the request that waits for it, or
with the server. Small files are parsed in a thread, since a process takes 0.3 s to start.

One large file is parsed at a time, and each tenant may have one in the server: its body stays in
memory until it is parsed, so waiting times must be short.

The child gets eight bytes for the size of a head, the head, and the file. It returns a byte that
tells success from refusal, and JSON.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

import msgspec

from memtree.errors import BadRequest, RateLimited
from memtree.history.message import Volatile
from memtree.process.threads import counted
from memtree_proxy.imports.posted_file import PrefixQuery, parsed, posted_file

if sys.platform != "win32":
    import resource

SMALL = 64 * 1024  # bytes; the worst of them take 3 MB of memory and a tenth of a second
MEMORY_BYTES = 2 << 30
CPU_SECONDS = 60
PATIENCE = 120.0  # seconds of wall-clock time, on a busy machine
TURN_SECONDS = 20.0  # that a large file waits for those of other tenants
AGAIN_SECONDS = 10.0
PIECE = 1 << 20  # bytes handed to the child at once
HEAD = 8

START = (
    "import sys; sys.path[:] = {path!r}; "
    "from memtree.jobs.parent_death import end_with; end_with({parent}); "
    "from memtree_proxy.imports.parse_process import main; main()"
)
_WORKED, _REFUSED = b"\x00", b"\x01"


class ParseTask(msgspec.Struct, array_like=True):
    """Head of a message to the child: the file's name and the fields of `PrefixQuery`."""

    name: str
    address: bytes
    tenant: str
    most: int
    tags: tuple[str, ...]
    carried: tuple[str, ...]

    @classmethod
    def of(cls, name: str, wanted: PrefixQuery) -> ParseTask:
        tags, carried = wanted.volatile.tags, wanted.volatile.carried
        return cls(name, wanted.address, wanted.tenant, wanted.most, tags, carried)

    def wanted(self) -> PrefixQuery:
        volatile = Volatile(self.tags, self.carried)
        return PrefixQuery(self.address, self.tenant, self.most, volatile)


class ParseRefusal(msgspec.Struct):
    message: str
    param: str | None


class FileReader:
    """Reader of posted files that parses one large file at a time, and holds one for each
    tenant."""

    def __init__(self, small: int = SMALL, turn: float = TURN_SECONDS) -> None:
        self._small, self._turn = small, turn
        self._alone = asyncio.Lock()
        self._busy: set[str] = set()  # tenants that have a large file here

    @contextmanager
    def place(self, tenant: str, size: int | None) -> Iterator[None]:
        """Hold the tenant's place for a large file from before its body is received until it is
        answered. `size`: in bytes; None if unknown before the body is read. Raises `RateLimited` if
        the place is taken; a small file needs no place."""
        if size is not None and size <= self._small:
            yield
            return
        if tenant in self._busy:
            raise RateLimited(
                "A large file of yours is being read; post one after the other.",
                retry_after=AGAIN_SECONDS,
            )
        self._busy.add(tenant)
        try:
            yield
        finally:
            self._busy.discard(tenant)

    async def read(self, data: bytes, name: str, wanted: PrefixQuery) -> bytes:
        """Return the JSON of `posted_file.parsed`, and raise its errors. Raises `BadRequest` also
        for a file that takes too much memory or time, and `RateLimited` if others' files take too
        long."""
        if len(data) <= self._small:
            return await asyncio.to_thread(counted, lambda: parsed(posted_file(data, name), wanted))
        await self._wait()
        try:
            said, answer = await _asked(data, ParseTask.of(name, wanted))
        finally:
            self._alone.release()
        if said == _WORKED:
            return answer
        if said == _REFUSED:
            refusal = msgspec.json.decode(answer, type=ParseRefusal)
            raise BadRequest(refusal.message, param=refusal.param)
        raise BadRequest(
            f"{name}: takes too much memory or time to be read here; `memtree import` may read it",
            param=name,
        )

    async def _wait(self) -> None:
        """Wait until it is this file's turn."""
        try:
            async with asyncio.timeout(self._turn):
                await self._alone.acquire()
        except TimeoutError as error:
            raise RateLimited(
                "Large files of others are being read; post this one again soon.",
                retry_after=AGAIN_SECONDS,
            ) from error


async def _asked(data: bytes, task: ParseTask) -> tuple[bytes, bytes]:
    """Return the child's complete answer: a byte that tells success from refusal, and the JSON."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        START.format(path=sys.path, parent=os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote the file
    )
    head = msgspec.msgpack.encode(task)
    try:
        async with asyncio.timeout(PATIENCE):
            said, answer = await _talk(process, len(head).to_bytes(HEAD, "big") + head, data)
            await process.wait()
    except TimeoutError:
        return b"", b""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return (said, answer) if process.returncode == 0 else (b"", b"")


async def _talk(
    process: asyncio.subprocess.Process, head: bytes, data: bytes
) -> tuple[bytes, bytes]:
    """Send head and file to the child and read its answer, without another copy of either."""
    given, output = process.stdin, process.stdout
    if given is None or output is None:
        return b"", b""
    view = memoryview(data)
    with suppress(BrokenPipeError, ConnectionResetError):  # the exit code tells what happened
        given.write(head)
        for start in range(0, len(view), PIECE):
            given.write(view[start : start + PIECE])
            await given.drain()
    given.close()
    return await output.read(1), await output.read()


def main() -> None:
    """Run the child's side: parse the file that the parent sends, and answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the file
    sys.stdout.buffer.write(answered(sys.stdin.buffer))
    sys.stdout.buffer.flush()


def answered(given: IO[bytes]) -> bytes:
    """Parse the file in the parent's message and return the child's answer."""
    size = int.from_bytes(given.read(HEAD), "big")
    task = msgspec.msgpack.decode(given.read(size), type=ParseTask)
    try:
        return _WORKED + parsed(posted_file(given.read(), task.name), task.wanted())
    except BadRequest as error:
        return _REFUSED + msgspec.json.encode(ParseRefusal(error.message, error.param))
