"""Reads a posted file: its conversations as JSON, and the one that has a given address.

It reads the formats of `memtree import` and plain messages, one file at a time. It reads only the
posted bytes and keeps nothing.

A large file is parsed in a process of its own: parsing 100 MB of JSON holds the GIL for seconds, in
which no stream of the server would move, and a hostile file may grow to fifty times its size in
memory. The process may use no more than `MEMORY_BYTES` and `CPU_SECONDS`; it ends with its answer,
with the request that waits for it, or with the server. Small files are parsed in a thread, since a
process takes 0.3 s to start.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec

from memtree.dialects import messages_history, messages_request, responses_history
from memtree.dialects.responses_items import ItemCache
from memtree.errors import BadRequest, RateLimited
from memtree.history import chat_history, json_body
from memtree.history.message import Message, Volatile, read_messages
from memtree.process.threads import counted
from memtree_proxy.imports import recognise
from memtree_proxy.imports.conversation import FORMATS, Conversation, raw_message, titled
from memtree_proxy.imports.recognise import NoConversation, ParsedFile, SourceFile

if sys.platform != "win32":
    import resource

NAME = "the file"
MESSAGES = "messages"  # format name of a file that is already a list of messages
# A known signature names the kind of file; other binary data is told by its first invalid byte.
_SIGNATURES = {
    b"PK\x03\x04": "a zip: unpack it and post the file in it",
    b"PK\x05\x06": "an empty zip",
    b"SQLite format 3\x00": "a database: `memtree import` reads those of opencode and Kilo",
    b"\x1f\x8b": "compressed by gzip: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}  # fmt: skip

SMALL = 64 * 1024  # bytes; the worst of them take 3 MB of memory and a tenth of a second
MEMORY_BYTES = 2 << 30
CPU_SECONDS = 60
PATIENCE = 120.0  # seconds of wall-clock time, on a busy machine
TURN_SECONDS = 20.0  # that a large file waits for those of other tenants
AGAIN_SECONDS = 10.0
PIECE = 1 << 20  # bytes handed to the child at once
HEAD = 8  # bytes of the size of a head

START = (
    "import sys; sys.path[:] = {path!r}; "
    "from memtree.jobs.parent_death import end_with; end_with({parent}); "
    "from memtree_proxy.imports.posted_file import main; main()"
)
_WORKED, _REFUSED = b"\x00", b"\x01"


def posted_file(data: bytes, name: str = NAME) -> SourceFile:
    """Parse a posted file; `name`: as its owner calls it. Raises `BadRequest` naming the kind of
    file, or the place where its JSON is invalid."""
    for signature, what in _SIGNATURES.items():
        if data.startswith(signature):
            raise BadRequest(f"{name}: is {what}", param=name)
    loaded = recognise.parse(data, name)
    title = name.removesuffix(".jsonl").removesuffix(".json").removesuffix(".md")
    return SourceFile(name, lambda: loaded, name, title, title)


@dataclass(frozen=True, slots=True)
class PrefixQuery:
    """A query for the conversation of which some prefix has `address`, for `tenant`; empty: no
    query. `most`: the most messages in a conversation. `volatile`: parts that addresses leave
    out."""

    address: bytes = b""
    tenant: str = ""
    most: int = 200_000
    volatile: Volatile = field(default_factory=Volatile)


def parsed(file: SourceFile, wanted: PrefixQuery) -> bytes:
    """Return JSON: {"conversations": [{"title", "messages", "format", "belongs", "notes"}]}.

    Raises `BadRequest` that describes the file, and names the line where there is one.
    """
    shown = [
        _shown(number, conversation, wanted)
        for number, conversation in enumerate(_conversations(file))
    ]
    if not shown:
        raise BadRequest(f"{file.name}: there are no messages in it", param=file.name)
    return msgspec.json.encode({"conversations": shown})


def _conversations(file: SourceFile) -> Sequence[Conversation]:
    plain = request_messages(file.load()) or plain_messages(file.load())
    if plain is not None:
        notes, title = file.load().notes, titled("", plain)
        return [Conversation(MESSAGES, "", title, "", tuple(plain), notes=notes)] if plain else []
    try:
        return list(recognise.conversations(file))
    except NoConversation as error:
        known, notes = ", ".join((MESSAGES, *FORMATS)), file.load().notes
        raise BadRequest(
            f"{file.name}: {_what(file.load())}, and not a conversation of a program that is known "
            f"({known}){'; ' if notes else ''}{'; '.join(notes[:1])}",
            param=file.name,
        ) from error


def request_messages(loaded: ParsedFile) -> list[dict[str, Any]] | None:
    """Return the canonical messages of a request to `/messages` or `/responses`, None for anything
    else. Raises `BadRequest` naming the place."""
    value = loaded.value
    if not isinstance(value, dict) or value.keys() & {"info", "sessionId", "agent"}:
        return None
    said = value.get("messages")
    if isinstance(said, list):
        contents = [message.get("content") for message in said if isinstance(message, dict)]
        if "system" not in value and not any(map(recognise.has_foreign_blocks, contents)):
            return None
        body = json_body.split(raw_message(value))
        read: Sequence[Message] = messages_history.read(
            body, "", messages_request.Cache(0, most=0)
        ).messages
    elif isinstance(value.get("input"), list):
        body = json_body.split(raw_message(value))
        read = responses_history.read(body, "", ItemCache(0, most=0)).messages
    else:
        return None
    messages: list[dict[str, Any]] = [msgspec.json.decode(message.raw) for message in read]
    for message in messages:
        message.pop("reasoning_content", None)
    return messages


def plain_messages(loaded: ParsedFile) -> list[dict[str, Any]] | None:
    """Return the messages of a file that holds them as requests do: a list, an object with the
    field `messages`, or one message on each line. Returns None for anything else."""
    value = loaded.value
    if isinstance(value, dict) and not value.keys() & {"info", "sessionId", "agent"}:
        value = value.get("messages")
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in value):
        return None
    foreign = any(recognise.has_foreign_blocks(item.get("content")) for item in value)
    return None if foreign else value


def _shown(number: int, conversation: Conversation, wanted: PrefixQuery) -> dict[str, Any]:
    place = f"conversations[{number}].messages"
    if len(conversation.messages) > wanted.most:
        raise BadRequest(
            f"{place}: {len(conversation.messages)} messages, over the limit of {wanted.most}"
        )
    messages = read_messages([raw_message(fields) for fields in conversation.messages], place)
    return {
        "title": conversation.title,
        "format": conversation.format,
        "notes": conversation.notes,
        "belongs": belongs(messages, wanted, conversation.sealed) if wanted.address else None,
        "messages": [msgspec.Raw(message.raw) for message in messages],
    }


def belongs(messages: Sequence[Message], wanted: PrefixQuery, sealed: int = 0) -> int | None:
    """Return the number of leading messages whose address is the wanted one, None if no prefix has
    it. `sealed`: messages at the beginning that have no part in addresses."""
    try:
        said = messages[sealed:]
        read = chat_history.read(wanted.tenant, said, wanted.volatile, count=lambda _: 0)
    except BadRequest:  # a result that answers no call, which no request can have held
        return None
    if wanted.address not in read.addresses[1:]:
        return None
    return sealed + read.posted[read.addresses.index(wanted.address, 1) - 1] + 1


def _what(loaded: ParsedFile) -> str:
    """Describe a file of unknown format, without quoting it."""
    if loaded.lines:
        return f"{len(loaded.value):,} lines of JSON objects"
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    if loaded.value is None:
        return "null in JSON"
    return f"{names.get(type(loaded.value), 'a number')} in JSON"


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
        """Return the JSON of `parsed`, and raise its errors. Raises `BadRequest` also
        for a file that takes too much memory or time, and `RateLimited` if others' files take too
        long."""
        if len(data) <= self._small:
            return await asyncio.to_thread(counted, lambda: parsed(posted_file(data, name), wanted))
        try:
            async with asyncio.timeout(self._turn):
                await self._alone.acquire()
        except TimeoutError as error:
            raise RateLimited(
                "Large files of others are being read; post this one again soon.",
                retry_after=AGAIN_SECONDS,
            ) from error
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
