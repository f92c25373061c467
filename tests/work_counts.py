"""How much work a piece of code does, in counts: the same on a busy machine and on an idle one.

    with counting() as work: ...
    work.lines, work.of["sha256"], work.messages

Counted are the lines of ours that run, calls of the functions named here (by their code: a name
that is gone is an error here, not a zero), calls into hashing and JSON, and which messages anybody
looked at. A line of a loop counts each time; work inside of one call of C counts once, so calls
that read JSON are counted with their bytes.
"""

from __future__ import annotations

import asyncio
import dis
import json
import sys
import types
from asyncio import base_events
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import CO_COROUTINE
from pathlib import Path
from typing import Any

import msgspec

from memtree.dialects import fragment_caches  # so that what decodes JSON is loaded  # noqa: F401
from memtree.history.message import Message
from memtree.models.query_cache import QueryCache
from memtree.ranking import fusion
from memtree.text import tokens
from memtree.unfolding import memory_text
from tests.programs.garbage import uncollected

ROOT = Path(__file__).parents[1]
OURS = tuple(f"{ROOT / name}/" for name in ("memtree", "proxy", "indexer"))
STORES = f"{ROOT / 'memtree' / 'stores'}/"
NAMED: dict[types.CodeType, str] = {
    tokens.count.__code__: "token counts",
    tokens.count_many.__code__: "token counts",
    tokens.prefix.__code__: "token counts",
    fusion.rank.__code__: "rankings",
    memory_text.render.__code__: "renders",
    QueryCache.get.__code__: "embedded queries asked for",
    base_events.BaseEventLoop.run_in_executor.__code__: "thread hops",
    vars(asyncio.Handle)["_run"].__code__: "event loop callbacks",
}
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")  # no calls from Python 3.12 on
EMBEDDING = ("embed", "embed_query", "embed_queries")
SHA256 = ("openssl_sha256", "sha256")
FIRST = 8  # bytes of code behind its creation at which a coroutine begins


@dataclass(slots=True)
class Work:
    """`of`: by name. `rooms`: lines by folder. `functions`: lines by file and function. `walk`:
    functions of ours, each with its file, in the order of first calls."""

    of: Counter[str] = field(default_factory=Counter)
    walk: dict[tuple[str, str], None] = field(default_factory=dict)
    rooms: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    _messages: dict[int, Message] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        return self.rooms.total()

    @property
    def messages(self) -> int:
        """Messages that were asked for anything that has to be read from their JSON, or were
        made."""
        return len(self._messages)

    # -- what the interpreter tells ----------------------------------------------------------

    def profiled(self, frame: types.FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            self._called_c(arg)
        elif event == "call":
            self._called(frame)

    def _called_c(self, arg: Any) -> None:
        name = getattr(arg, "__name__", "")
        owner = getattr(arg, "__self__", None)
        self.of["calls of C"] += 1
        if name in SHA256 or (name == "update" and type(owner).__name__ == "HASH"):
            self.of["sha256"] += 1
        elif name.startswith("xxh") or (name == "update" and "xxh" in type(owner).__name__):
            self.of["xxhash"] += 1

    def _called(self, frame: types.FrameType) -> None:
        code = frame.f_code
        if named := NAMED.get(code):
            self.of[named] += 1
        if ours := code.co_filename.startswith(OURS) and code.co_name not in INLINED:
            self.of["calls of ours"] += 1
            self.walk[code.co_filename, _qualified(code)] = None
        if ours and _qualified(code).startswith("Message."):
            one = frame.f_locals.get("self")
            if isinstance(one, Message):
                self._messages[id(one)] = one  # kept, so that no other one gets its id
        if code.co_flags & CO_COROUTINE and _begins(frame):
            if code.co_name in EMBEDDING:
                self.of["embeddings"] += 1
            caller = frame.f_back.f_code.co_filename if frame.f_back else ""
            if code.co_filename.startswith(STORES) and not caller.startswith(STORES):
                self.of["store calls"] += 1
                self.of[f"store: {code.co_name}"] += 1

    def traced(self, frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(OURS):
            return None
        if event == "line":
            room, function = _places.get(code) or _place(code)
            self.rooms[room] += 1
            self.functions[function] += 1
        return self.traced

    def decoded(self, raw: Any) -> None:
        self.of["JSON decodes"] += 1
        self.of["JSON bytes decoded"] += len(raw) if isinstance(raw, str) else len(memoryview(raw))


_places: dict[types.CodeType, tuple[str, str]] = {}


def _place(code: types.CodeType) -> tuple[str, str]:
    """Return the room and the name of a function of ours."""
    path = Path(code.co_filename).relative_to(ROOT)
    room = "/".join(path.parts[:2]).removesuffix(".py")
    _places[code] = room, f"{path}:{_qualified(code)}"
    return _places[code]


def _qualified(code: types.CodeType) -> str:
    return str(code.co_qualname)


def _begins(frame: types.FrameType) -> bool:
    """Return True if a coroutine runs for the first time, and does not go on.tests/answered.py:24 |
    Explain the answer as `/context_memory` does."""
    if frame.f_code not in _created:
        made = [i.offset for i in dis.get_instructions(frame.f_code) if "GENERATOR" in i.opname]
        _created[frame.f_code] = made[0] if made else 0
    return frame.f_lasti <= _created[frame.f_code] + FIRST


_created: dict[types.CodeType, int] = {}


@contextmanager
def counting(
    loop: asyncio.AbstractEventLoop | None = None, *, lines: bool = True
) -> Iterator[Work]:
    """Count what this thread does; `loop`: and the threads of its default executor. `lines` takes
    most of the time."""
    work = Work()
    profiled, traced = sys.getprofile(), sys.gettrace()  # coverage traces, too
    if loop:
        loop.set_default_executor(ThreadPoolExecutor(2, initializer=_watch, initargs=(work,)))
    with _decoders(work), uncollected():
        (_watch if lines else _profile)(work)
        try:
            yield work
        finally:
            sys.setprofile(profiled)
            sys.settrace(traced)
            if loop:
                loop.set_default_executor(ThreadPoolExecutor(2))


def _watch(work: Work) -> None:
    sys.settrace(work.traced)
    _profile(work)


def _profile(work: Work) -> None:
    sys.setprofile(work.profiled)


@contextmanager
def _decoders(work: Work) -> Iterator[None]:
    """Every decoder of JSON that a module of ours holds counts what it reads."""

    class Counted:
        def __init__(self, decode: Callable[..., Any]) -> None:
            self._decode = decode

        def decode(self, raw: Any) -> Any:
            work.decoded(raw)
            return self._decode(raw)

    def counted(decode: Callable[..., Any]) -> Callable[..., Any]:
        def read(raw: Any, *given: Any, **named: Any) -> Any:
            work.decoded(raw)
            return decode(raw, *given, **named)

        return read

    decode, loads = msgspec.json.decode, json.loads
    undo: list[tuple[Any, str, Any]] = []
    places = [m for name, m in sys.modules.items() if name.split(".")[0] in _TOPS]
    for holder in (*places, msgspec.json, json):
        for name, value in list(vars(holder).items()):
            if isinstance(value, msgspec.json.Decoder):
                undo.append((holder, name, value))
                setattr(holder, name, Counted(value.decode))
            elif value is decode or value is loads:
                undo.append((holder, name, value))
                setattr(holder, name, counted(value))
    try:
        yield
    finally:
        for holder, name, value in undo:
            setattr(holder, name, value)


_TOPS = frozenset({"memtree", "memtree_proxy", "memtree_indexer"})


class Suspending:
    """`await Suspending(coroutine)`; `times`: how often it gave the event loop back."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self.times = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._coroutine.__await__()
        try:
            waits = next(inner)
            while True:
                self.times += 1
                try:
                    sent = yield waits
                except BaseException as error:  # noqa: BLE001  it is the coroutine's
                    waits = inner.throw(error)
                else:
                    waits = inner.send(sent)
        except StopIteration as end:
            return end.value
