"""Histories for property tests, and processes that answer them.

Hypothesis draws kinds, seeds and sizes; a seeded generator writes the words, so that a history of
ten thousand tokens costs a few draws.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from indexer.build import StageOne
from indexer.inprocess import InProcessQueue, NoQueue
from memtree import build, tree
from memtree.build import Grown, Tail
from memtree.compress import Memory
from memtree.history import History, read
from memtree.message import Message, Volatile
from memtree.node import EMPTY, Frontier, Node, places
from memtree.ports import Store
from memtree.stores import open_store
from tests.fakes import HashingEmbedder

VOLATILE_MARK = "VOLATILE"  # stands in volatile blocks and nowhere else
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()
UNICODE = (
    "数据库连接失败。",
    "次は何をしますか？",
    "عربي نص",
    "naïve façade",
    "👩‍👩‍👧 ok",
    "e\u0301te\u0301",
    "\u2028",
)


# ---------------------------------------------------------------- texts


def prose(seed: int, words: int) -> str:
    """Sentences and paragraphs about one of 40 topics."""
    rng = Random(seed)
    topic = Random(seed % 40)
    known = ["".join(topic.choices(SYLLABLES, k=3)) for _ in range(30)]
    known += ["the", "of", "and", "is", "to", "in", "that", "was"]
    out: list[str] = []
    while len(out) < words:
        size = min(rng.randint(5, 14), words - len(out))
        sentence = rng.choices(known, k=size)
        sentence[0] = sentence[0].title()
        sentence[-1] += ".\n\n" if rng.random() < 0.2 else "."
        out += sentence
    return " ".join(out)


def code(seed: int, lines: int) -> str:
    """Functions of three to six lines without blank lines inside."""
    rng = Random(seed)
    out: list[str] = []
    while len(out) < lines:
        name = "".join(rng.choices(SYLLABLES, k=2))
        out.append(f"def {name}_{rng.randint(0, 99)}(value):")
        out += [f"    value += {rng.randint(0, 9999)}  # {name}" for _ in range(rng.randint(1, 4))]
        out += ["    return value", ""]
    return "\n".join(out)


def exotic(seed: int, words: int) -> str:
    rng = Random(seed)
    return "".join(rng.choice((*UNICODE, " ", "\n", "plain ")) for _ in range(max(1, words // 3)))


# ---------------------------------------------------------------- messages


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody posts next; `size` is about words."""

    kind: str
    seed: int
    size: int

    def messages(self) -> list[Message]:
        return [Message.of(fields) for fields in MAKERS[self.kind](self.seed, self.size)]


def _said(role: str, content: object) -> list[dict[str, object]]:
    return [{"role": role, "content": content}]


def _volatile(seed: int, size: int) -> list[dict[str, object]]:
    block = f"<system-reminder>{VOLATILE_MARK} {seed} {prose(seed, 8)}</system-reminder>"
    half = size // 2 + 1
    return _said("user", f"{block}{prose(seed, half)}{block} {prose(seed + 1, half)}{block}")


def _parts(seed: int, size: int) -> list[dict[str, object]]:
    first = {"type": "text", "text": prose(seed, size), "cache_control": {"type": "ephemeral"}}
    return _said("user", [first, {"type": "text", "text": prose(seed + 1, 5)}])


def _image(seed: int, size: int) -> list[dict[str, object]]:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{seed}"}}
    return _said("user", [{"type": "text", "text": prose(seed, min(size, 60))}, picture])


def _tools(seed: int, size: int) -> list[dict[str, object]]:
    """One to three parallel calls, their results in any order."""
    rng = Random(seed)
    ids = [f"id-{seed}-{index}" for index in range(rng.randint(1, 3))]
    calls = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "src/{id_}.py"}}'},
        }
        for id_ in ids
    ]
    rng.shuffle(ids)
    said = rng.choice((None, "", prose(seed, 10)))
    results: list[dict[str, object]] = [
        {"role": "tool", "tool_call_id": id_, "content": code(seed + at, size // 8 + 1)}
        for at, id_ in enumerate(ids)
    ]
    return [{"role": "assistant", "content": said, "tool_calls": calls}, *results]


def _legacy(seed: int, size: int) -> list[dict[str, object]]:
    call = {"name": "lookup", "arguments": f'{{"n": {seed}}}'}
    return [
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "lookup", "content": prose(seed, size)},
    ]


def _long(seed: int, size: int) -> list[dict[str, object]]:
    fence = f"```python\n{code(seed, size // 2)}\n```"
    return _said("assistant", f"# {prose(seed, 4)}\n\n{prose(seed, 6 * size)}\n{fence}\nDone.")


MAKERS: dict[str, Callable[[int, int], list[dict[str, object]]]] = {
    "user": lambda seed, size: _said("user", prose(seed, size)),
    "assistant": lambda seed, size: _said("assistant", prose(seed, size)),
    "tools": _tools,
    "parts": _parts,
    "volatile": _volatile,
    "image": _image,
    "long": _long,
    "unicode": lambda seed, size: _said("user", exotic(seed, size)),
    "word": lambda seed, size: _said("user" if seed % 2 else "assistant", "ok"),
    "empty": lambda seed, size: _said("assistant", ("", None, [])[seed % 3]),
    "rule": lambda seed, size: _said(
        "user", f"{prose(seed, 9)} Always answer with {prose(seed, 3)}"
    ),
    "system": lambda seed, size: _said(
        ("system", "developer")[seed % 2], f"SYSTEM {prose(seed, 20)}"
    ),
    "legacy": _legacy,
}
KINDS = tuple(MAKERS)

turns = st.builds(Turn, st.sampled_from(KINDS), st.integers(0, 9_999), st.integers(1, 300))


def conversation(seed: int, size: int) -> list[Message]:
    """A history of about `size` tokens: every kind of message, some of them long."""
    rng = Random(seed)
    made = Turn("system", seed, 1).messages()
    left = size
    while left > 0:
        kind = rng.choice(KINDS)
        turn = Turn(kind, rng.randint(0, 9_999), rng.choice((5, 40, 120, 300)))
        made += turn.messages()
        left -= 1_500 if kind == "image" else 8 * turn.size if kind == "long" else turn.size
    return made


# ---------------------------------------------------------------- what answers


class FixedClock:
    """Stands still, but for whoever sets it."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return 0.0


@dataclass(slots=True)
class World:
    """One process: a memory over a store, with the fake embedder or without."""

    memory: Memory
    store: Store
    queue: InProcessQueue | NoQueue

    async def settle(self) -> None:
        await self.memory.close()
        if isinstance(self.queue, InProcessQueue):
            await self.queue.join()

    async def stop(self) -> None:
        """The process ends; the store stays for another one."""
        await self.memory.close()
        if isinstance(self.queue, InProcessQueue):
            await self.queue.close()

    async def close(self) -> None:
        await self.stop()
        await self.store.close()  # type: ignore[attr-defined]


def open_world(
    *, embedding: bool = True, store: Store | None = None, clock: FixedClock | None = None
) -> World:
    """Inside a running loop. `store`: that of another process."""
    store, clock = store or open_store("memory:"), clock or FixedClock()
    embedder = HashingEmbedder() if embedding else None
    queue = InProcessQueue(store, embedder, clock) if embedder else NoQueue()
    if isinstance(queue, InProcessQueue):
        queue.start()
    memory = Memory(store, StageOne(child=False), queue, clock, embedder=embedder)
    return World(memory, store, queue)


@asynccontextmanager
async def a_world(*, embedding: bool = True) -> AsyncIterator[World]:
    world = open_world(embedding=embedding)
    try:
        yield world
    finally:
        await world.close()


def tail_of(
    history: History,
    frontier: Frontier = EMPTY,
    loose: dict[bytes, Node] | None = None,
    known: int = 0,
) -> Tail:
    """What stage 1 is given for a history of which `frontier` is known."""
    first = frontier.messages
    return Tail(
        frontier,
        loose or {},
        tuple(message.raw for message in history.messages[first:]),
        tuple(fact.digest for fact in history.facts[first:]),
        history.addresses[first + 1 :],
        history.volatile.tags,
        known,
    )


def batch(history: History) -> Grown:
    """Stage 1 of the whole history at once."""
    return build.grow(tail_of(history))


def history_of(messages: Sequence[Message], tenant: str = "t") -> History:
    return read(tenant, messages, Volatile())


def leaves_of(frontier: Frontier, nodes: Mapping[bytes, Node]) -> list[Node]:
    return [node for node, _, _ in tree.walk(frontier.nodes, nodes) if node.is_leaf]


def leaf_text(history: History, leaves: Iterable[Node]) -> str:
    """The text that consecutive leaves from the history's start cover."""
    leaves = list(leaves)
    return "".join(
        history.view(place.first + passage.message).text[passage.start : passage.end]
        for leaf, place in zip(leaves, places(leaves), strict=True)
        for passage in leaf.passages
    )


def history_text(history: History) -> str:
    return "".join(history.view(index).text for index in range(len(history)))


def rewritten(messages: Sequence[Message]) -> list[Message]:
    """The same history as a client re-sends it: new volatile blocks, new ids, no cache markers."""
    out = []
    for message in messages:
        text = message.raw.decode()
        text = text.replace(f"{VOLATILE_MARK} ", f"{VOLATILE_MARK} again ")
        text = text.replace('"id-', '"toolu-')
        text = text.replace(',"cache_control":{"type":"ephemeral"}', "")
        out.append(Message(text.encode()))
    return out


def readable(messages: Sequence[Message]) -> bool:
    """Whether no tool message lost its call."""
    calls: set[str] = set()
    for message in messages:
        if message.role in ("assistant", "user"):
            calls = {call.id or call.name for call in message.calls}
        elif message.role in ("tool", "function"):
            key = message.fields.get("tool_call_id") or message.fields.get("name")
            if key not in calls:
                return False
    return True
