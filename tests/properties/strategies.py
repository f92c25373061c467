"""Histories for property tests, and processes that answer them.

Hypothesis draws kinds, seeds and sizes; a seeded generator writes the words, so that a history of
ten thousand tokens costs a few draws.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from hypothesis import strategies as st

from memtree.context.context_memory import ContextMemory
from memtree.context.warm_conversations import TreeCaches
from memtree.digests.clauses import read_lines
from memtree.digests.line_judgements import ReadLines
from memtree.errors import BadRequest
from memtree.history.chat_history import History, read
from memtree.history.message import Message, Volatile
from memtree.jobs.embedding import InProcessQueue, NoQueue
from memtree.jobs.growing import StageOne
from memtree.ports.context_store import Store
from memtree.process.bounded import CacheLimits
from memtree.stores import open_store
from memtree.tree import btree, growth
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.node import EMPTY, Frontier, Node
from tests.fakes import HashingEmbedder
from tests.made.trees import places

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


@lru_cache(maxsize=4_096)
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
    """Turn that somebody posts next; `size` is about words."""

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


# ---------------------------------------------------------------- what clients send beside text

PNG = (  # 37 x 23 pixels, as far as its header goes
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACUAAAAXCAIAAAADThHyAAAAKElEQVR4nGPk"
)
SIGNATURE = "Cr8CAXLI2nz" * 40  # stands for data that nobody reads
EPHEMERAL = {"type": "ephemeral"}


def _call(id_: object, name: str, arguments: object) -> dict[str, object]:
    id_ = {} if id_ is None else {"id": id_}
    return {**id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _reasoned(seed: int, size: int) -> list[dict[str, object]]:
    """Reasoning in each of its spellings, some of them twice."""
    thought = prose(seed, min(size, 50))
    details = [
        {"type": "reasoning.text", "text": thought, "signature": SIGNATURE},
        {"type": "reasoning.encrypted", "data": SIGNATURE},
    ]
    spelled = (
        {"reasoning_content": thought},
        {"reasoning": thought, "reasoning_details": details},
        {"thinking": thought, "provider_specific_fields": {"x": thought}},
        {"thinking_blocks": [{"type": "thinking", "thinking": thought, "signature": SIGNATURE}]},
        {"extra_content": {"google": {"thought_signature": SIGNATURE}}},
    )[seed % 5]
    return [{"role": "assistant", "content": prose(seed + 1, size), **spelled}]


def _thinking(seed: int, size: int) -> list[dict[str, object]]:
    thought = {"type": "thinking", "thinking": prose(seed, 20), "signature": SIGNATURE}
    return _said("assistant", [thought, {"type": "text", "text": prose(seed, size)}])


def _refused(seed: int, size: int) -> list[dict[str, object]]:
    words = prose(seed, min(size, 20))
    if seed % 2:
        return [{"role": "assistant", "content": None, "refusal": words, "parsed": None}]
    return _said("assistant", [{"type": "refusal", "refusal": words}])


def _media(seed: int, size: int) -> list[dict[str, object]]:
    """A picture with a size, sound, files, video, and what does not exist yet."""
    parts: tuple[dict[str, object], ...] = (
        {"type": "image_url", "image_url": {"url": PNG, "detail": ("auto", "low")[seed % 2]}},
        {"type": "input_audio", "input_audio": {"data": SIGNATURE, "format": "wav"}},
        {"type": "file", "file": {"filename": f"plan {seed}.pdf", "file_data": SIGNATURE}},
        {"type": "file", "file": {"file_id": f"file-{seed}"}},
        {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
        {"type": "hologram", "data": SIGNATURE, "depth": [1, {"x": seed}]},
    )
    part = parts[seed % len(parts)]
    return _said("user", [part, {"type": "text", "text": prose(seed, min(size, 60))}])


def _spoken(seed: int, size: int) -> list[dict[str, object]]:
    return [{"role": "assistant", "content": None, "audio": {"id": f"audio_{seed}"}}]


def _pictured(seed: int, size: int) -> list[dict[str, object]]:
    """A tool that answers with a list, a picture in it; its signed call."""
    call = _call("call_0", "look", "{}")  # the same id in each such round
    call["extra_content"] = {"google": {"thought_signature": SIGNATURE}}
    shown = {"type": "image_url", "image_url": {"url": PNG}}
    content = [{"type": "text", "text": prose(seed, min(size, 80))}, shown]
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": content},
    ]


def _nameless(seed: int, size: int) -> list[dict[str, object]]:
    """Parallel calls without ids, or with empty ones; arguments as an object."""
    id_ = ("", None)[seed % 2]
    calls = [_call(id_, "find", {"n": seed}), _call(id_, "find", '{"n": 2}')]
    answers = {} if id_ is None else {"tool_call_id": id_}
    results: list[dict[str, object]] = [
        {"role": "tool", **answers, "content": prose(seed + at, size // 4 + 1)} for at in range(2)
    ]
    return [{"role": "assistant", "tool_calls": calls}, *results]


def _stopped(seed: int, size: int) -> list[dict[str, object]]:
    """A call that was never answered, and what the user said to that."""
    call = _call(f"id-{seed}", "wait", "{}")
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        *_said("user", prose(seed, min(size, 30))),
    ]


def _cached(seed: int, size: int) -> list[dict[str, object]]:
    """A cache marker on the message itself, or on its second part."""
    words = prose(seed, size)
    if seed % 2:
        return [{"role": "user", "content": words, "cache_control": EPHEMERAL}]
    second = {"type": "text", "text": "Please.", "cache_control": EPHEMERAL}
    return _said("user", [{"type": "text", "text": words}, second])


def _future(seed: int, size: int) -> list[dict[str, object]]:
    more = {"x-new": {"b": 1.5, "a": [None, 2**60]}, "annotations": [], "prefix": True}
    return [{"role": "assistant", "content": prose(seed, size), **more}]


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
    "absent": lambda seed, size: [{"role": "assistant"}],
    "reasoned": _reasoned,
    "thinking": _thinking,
    "refused": _refused,
    "media": _media,
    "spoken": _spoken,
    "pictured": _pictured,
    "nameless": _nameless,
    "stopped": _stopped,
    "cached": _cached,
    "future": _future,
}
KINDS = tuple(MAKERS)
HEAVY = frozenset({"image", "media", "spoken", "pictured"})

turns = st.builds(Turn, st.sampled_from(KINDS), st.integers(0, 9_999), st.integers(1, 300))


def conversation(seed: int, size: int) -> list[Message]:
    """A history of about `size` tokens: every kind of message, some of them long."""
    rng = Random(seed)
    made = Turn("system", seed, 1).messages()
    left = size
    while left > 0:
        kind = rng.choice(KINDS)
        if kind in HEAVY and rng.random() < 0.8:  # mostly text: media cost much and say little
            continue
        turn = Turn(kind, rng.randint(0, 9_999), rng.choice((5, 40, 120, 300)))
        made += turn.messages()
        left -= 1_500 if kind in HEAVY else 8 * turn.size if kind == "long" else turn.size
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

    memory: ContextMemory
    store: Store
    queue: InProcessQueue | NoQueue
    lines: ReadLines = field(default_factory=read_lines)
    batches: dict[tuple[object, ...], GrownTree] = field(default_factory=dict)

    def batch(self, history: History) -> GrownTree:
        """Index the history at once, as `batch` does; histories that differ in cache markers alone
        are indexed only once, since no marker may change a node."""
        said = tuple(
            (message.role, message.view(history.volatile).text) for message in history.messages
        )
        digests = tuple(fact.digest for fact in history.facts)
        key = (said, digests, history.addresses, history.volatile.tags)
        if key not in self.batches:
            self.batches[key] = growth.grow(tail_of(history), self.lines)
        return self.batches[key]

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
    *,
    embedding: bool = True,
    store: Store | None = None,
    clock: FixedClock | None = None,
    caches: CacheLimits | None = None,
) -> World:
    """Inside a running loop. `store`: that of another process."""
    store, clock = store or open_store("memory:"), clock or FixedClock()
    embedder = HashingEmbedder() if embedding else None
    queue = InProcessQueue(store, embedder, clock) if embedder else NoQueue()
    if isinstance(queue, InProcessQueue):
        queue.start()
    memory = ContextMemory(
        store,
        StageOne(child=False),
        queue,
        clock,
        embedder=embedder,
        caches=TreeCaches.of(caches),
    )
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
    """Return what stage 1 is given for a history of which `frontier` is known."""
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


def batch(history: History) -> GrownTree:
    """Stage 1 of the whole history at once."""
    return growth.grow(tail_of(history))


def history_of(messages: Sequence[Message], tenant: str = "t") -> History:
    return read(tenant, messages, Volatile())


def leaves_of(frontier: Frontier, nodes: Mapping[bytes, Node]) -> list[Node]:
    return [node for node, _ in btree.walk(frontier.nodes, nodes) if node.is_leaf]


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
    """Return the history as a client re-sends it: new volatile blocks, new ids, no cache
    markers."""
    out = []
    for message in messages:
        text = message.raw.decode()
        text = text.replace(f"{VOLATILE_MARK} ", f"{VOLATILE_MARK} again ")
        text = text.replace('"id-', '"toolu-')
        text = text.replace(',"cache_control":{"type":"ephemeral"}', "")
        text = text.replace(SIGNATURE, SIGNATURE[::-1]) if message.role == "assistant" else text
        out.append(Message(text.encode()))
    return out


def readable(messages: Sequence[Message]) -> bool:
    """Return True if no tool message lost its call."""
    try:
        history_of(messages)
    except BadRequest:
        return False
    return True
