"""The one use case: a posted history in, the messages for the model out.

`/context_memory`, the chat route, the command line and library callers all come through `Memory`.
This is the only file that awaits ports in order; what to do is decided in the pure files. No
failure of a port stops an answer: without the store the tree is built for this request alone,
without the embedder ranking is BM25, without a tree in time the older rounds decay.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import msgspec

from memtree import explain, history, pack, terms, tokens
from memtree.build import Grown, Tail
from memtree.corpus import Corpus
from memtree.errors import ContextOverflow, EmbedderUnavailable, StoreUnavailable, Unavailable
from memtree.history import FactsCache, History
from memtree.message import MESSAGE_OVERHEAD, Message, Volatile
from memtree.node import Frontier, Node, Place, after
from memtree.plan import Plan, render
from memtree.ports import Batch, Builder, Clock, Embedder, IndexQueue, LeafWork, Pending, TreeStore
from memtree.probe import covering
from memtree.query import query_text
from memtree.rank import Ranking, rank
from memtree.shelf import NodeShelf, Shelf
from memtree.unfold import Unfolded, unfold

log = logging.getLogger("memtree")

SHORT_MESSAGE = 100  # tokens: at 60 LoCoMo recall at 4k is 90.4, at 100 92.3, at 250 91.7
DAY = 86_400.0
PROVISIONAL_SHARE = 0.1  # of the tokens may lack vectors before an answer is called provisional
BUILD_PATIENCE = 20.0  # seconds that a request waits for stage 1 before older rounds decay


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. Tokens throughout; `window` is the model's context, `reserve` its output."""

    tenant: str
    messages: tuple[Message, ...]
    target: int = 20_000
    hard: bool = False
    window: int = 128_000
    reserve: int = 4_096
    tools_tokens: int = 0
    query: str | None = None
    mode: str = "fresh"
    expiration_days: int = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """`messages` are raw JSON fragments; `changed` is False where they are the posted ones."""

    state: str
    changed: bool
    messages: tuple[bytes, ...]
    address: bytes
    raw_tokens: int
    sent_tokens: int
    system_tokens: int
    indexed_tokens: int = 0
    indexed_messages: int = 0
    pending_tokens: int = 0
    cached_tokens: int = 0
    outline_tokens: int = 0
    recent_tokens: int = 0
    recall_tokens: int = 0
    excerpts: int = 0
    mode: str = "fresh"
    epoch: str | None = None
    explain: Callable[[], dict[str, Any]] = explain.nothing


@dataclass(slots=True)
class _Known:
    """What is indexed of one history: a tree over a prefix, and a leaf that is not final yet."""

    frontier: Frontier
    nodes: dict[bytes, Node]
    prefix: int = 0  # length of the prefix whose frontier this is
    open: Node | None = None
    trouble: str = ""
    lacking: int = 0  # tokens in leaves without vectors

    @property
    def whole(self) -> bool:
        """Stage 1 reached the end of the history."""
        return self.trouble != "indexing"

    @property
    def all_nodes(self) -> dict[bytes, Node]:
        """The open leaf included."""
        return {**self.nodes, self.open.id: self.open} if self.open else self.nodes

    @property
    def open_place(self) -> Place | None:
        if self.open is None:
            return None
        return after(Place(0, 0, self.frontier.messages, self.frontier.tail), self.open)


class Memory:
    """Context memory bound to its ports. One per process; safe for concurrent requests."""

    def __init__(
        self,
        store: TreeStore,
        builder: Builder,
        queue: IndexQueue,
        clock: Clock,
        *,
        embedder: Embedder | None = None,
        facts: FactsCache | None = None,
        volatile: Volatile | None = None,
    ) -> None:
        self._store, self._builder, self._queue, self._clock = store, builder, queue, clock
        self._embedder = embedder
        self._facts = facts
        self._volatile = volatile or Volatile()
        self._nodes = NodeShelf()
        self._corpora = Shelf()
        self._background: set[asyncio.Task[Any]] = set()

    async def compress(self, ask: Ask) -> Answer:
        """Raises `BadRequest` (unreadable history) and `ContextOverflow`; nothing else."""
        posted = await self.read(ask)
        if not len(posted):
            return _passed(posted, ask)
        limits = pack.Limits.of(
            target=ask.target, hard=ask.hard, window=ask.window, reserve=ask.reserve
        )
        fixed = posted.system_tokens + ask.tools_tokens
        decision = pack.decide(posted, limits, fixed, tree=False, busy=True)
        if isinstance(decision, pack.Refuse):
            raise ContextOverflow(decision.limit, decision.tokens)
        if isinstance(decision, pack.Pass):
            if posted.tokens >= pack.THRESHOLD:  # it will need its tree soon
                self._later(self._prepare(posted, ask))
            return _passed(posted, ask)
        known = await self._prepare(posted, ask)  # what `Wait` waits for, within its patience
        decision = pack.decide(posted, limits, fixed, tree=known.whole)
        if not isinstance(decision, pack.Packed):
            raise AssertionError(f"after stage 1 a history is packed, not {decision}")
        return await self._packed(posted, ask, decision, known)

    async def index(self, ask: Ask) -> Answer:
        """Index what was posted; the answer has the numbers and no messages."""
        posted = await self.read(ask)
        known = await self._prepare(posted, ask)
        answer = replace(_passed(posted, ask), messages=(), sent_tokens=0, state=_state(known))
        return _with_index(answer, known)

    async def tree(self, ask: Ask) -> dict[str, Any]:
        """The tree over the posted history, wire-shaped (API section 1)."""
        posted = await self.read(ask)
        known = await self._prepare(posted, ask)
        return explain.tree(posted, known.frontier, known.nodes, known.open)

    async def outline(self, ask: Ask) -> tuple[History, Frontier, dict[bytes, Node]]:
        """History, frontier and nodes, for those who draw the tree."""
        posted = await self.read(ask)
        known = await self._prepare(posted, ask)
        return posted, known.frontier, known.nodes

    def pending(self, tenant: str) -> Pending:
        return self._queue.pending(tenant)

    async def close(self) -> None:
        """Let background indexing that was begun by requests come to its end."""
        if self._background:
            await asyncio.gather(*self._background, return_exceptions=True)

    async def read(self, ask: Ask) -> History:
        """The posted messages as a history; long ones are read off the event loop."""
        work = (ask.tenant, ask.messages, self._volatile, self._facts)
        if sum(len(message.raw) for message in ask.messages) > 256_000:
            return await asyncio.to_thread(history.read, *work)
        return history.read(*work)

    # -- stage 1 -----------------------------------------------------------------------------

    async def _prepare(self, posted: History, ask: Ask) -> _Known:
        """Find what is indexed, grow it to the end of the history, and hand stage 2 on."""
        try:
            known = await self._find(posted)
        except Unavailable as error:
            log.warning("store.unavailable code=%s", error.code)
            known = _Known(Frontier(), {}, trouble="store")
        await self._grow(posted, known, ask)
        return known

    async def _find(self, posted: History) -> _Known:
        covered = await covering(self._store, posted)
        if covered is None:
            return _Known(Frontier(), {})
        length, frontier = covered
        nodes = self._nodes.below(posted.tenant, frontier.nodes)
        if nodes is None:
            nodes = await self._store.descendants(posted.tenant, frontier.nodes)
            if not _complete(frontier.nodes, nodes):
                log.warning("store.node_missing")
                return _Known(Frontier(), {})
            self._nodes.add(posted.tenant, nodes.values())
        return _Known(frontier, nodes, length)

    async def _grow(self, posted: History, known: _Known, ask: Ask) -> None:
        tail = _tail(posted, known)
        size = sum(fact.tokens for fact in posted.facts[known.frontier.messages :])
        try:
            async with asyncio.timeout(BUILD_PATIENCE):
                grown = await self._builder.grow(tail, size)
        except TimeoutError:
            known.trouble = "indexing"
            return
        except Unavailable as error:
            log.warning("build.failed code=%s", error.code)
            known.trouble = "indexing"
            return
        await self._adopt(posted, known, grown, ask)

    async def _adopt(self, posted: History, known: _Known, grown: Grown, ask: Ask) -> None:
        if grown.nodes:
            batch = Batch(
                grown.nodes, grown.frontiers, self._clock.now() + ask.expiration_days * DAY
            )
            try:
                await self._store.commit(posted.tenant, batch)
            except Unavailable as error:
                log.warning("store.commit_failed code=%s", error.code)
                known.trouble = known.trouble or "store"
            self._nodes.add(posted.tenant, grown.nodes)
            known.nodes = {**known.nodes, **{node.id: node for node in grown.nodes}}
        known.frontier, known.open = grown.frontier, grown.open
        await self._embeddings(posted, known)

    # -- ranking -----------------------------------------------------------------------------

    async def _embeddings(self, posted: History, known: _Known) -> None:
        """Bring the corpus up to date, fetch vectors that have come, submit what lacks them."""
        if self._embedder is None:
            return
        async with self._corpora.of(
            posted.tenant, known.frontier, known.nodes, self._dimensions
        ) as corpus:
            lacking = corpus.lacking()
            if lacking and known.trouble != "store":
                ids = [corpus.leaves[index].id for index in lacking]
                try:
                    corpus.add_vectors(
                        await self._store.vectors(posted.tenant, self._embedder.recipe, ids)
                    )
                except StoreUnavailable as error:
                    log.warning("store.vectors_failed code=%s", error.code)
                lacking = corpus.lacking()
            known.lacking = sum(corpus.leaves[index].tokens for index in lacking)
            work = [LeafWork(corpus.leaves[i], corpus.places[i].first) for i in lacking]
        if work and known.trouble != "store":
            self._queue.submit(posted, posted.addresses[work[0].first], work)

    @property
    def _dimensions(self) -> int:
        return self._embedder.dimensions if self._embedder else 1

    async def _packed(
        self, posted: History, ask: Ask, decision: pack.Packed, known: _Known
    ) -> Answer:
        if not decision.memory:
            return _assemble(posted, ask, decision, known, None)
        if not known.whole:
            return _assemble(posted, ask, decision, known, _decayed(posted, decision, known))
        text = query_text(posted, ask.query)
        vector = await self._query_vector(text)
        async with self._corpora.of(
            posted.tenant, known.frontier, known.nodes, self._dimensions
        ) as corpus:

            def work() -> tuple[Unfolded, dict[int, explain.Scored]]:
                with corpus.with_open(known.open, known.open_place):
                    ranking = _ranked(corpus, text, vector)
                    found = _unfold(posted, decision, known, corpus, ranking)
                    rows = [one.passage for one in found.chosen if one.passage >= 0]
                    return found, explain.scored([*rows, *found.left_out], corpus, ranking)

            unfolded, rows = await asyncio.to_thread(work)
        return _assemble(posted, ask, decision, known, unfolded, rows)

    async def _query_vector(self, text: str) -> Any:
        if self._embedder is None or not text.strip():
            return None
        try:
            return await self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            log.warning("embedder.failed code=%s", error.code)
            return None

    def _later(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _complete(ids: Sequence[bytes], nodes: dict[bytes, Node]) -> bool:
    return all(id_ in nodes and _complete(nodes[id_].children, nodes) for id_ in ids)


def _tail(posted: History, known: _Known) -> Tail:
    first = known.frontier.messages
    return Tail(
        frontier=known.frontier,
        loose={id_: known.nodes[id_] for id_ in known.frontier.nodes},
        messages=tuple(message.raw for message in posted.messages[first:]),
        digests=tuple(fact.digest for fact in posted.facts[first:]),
        addresses=posted.addresses[first + 1 :],
        volatile=posted.volatile.tags,
        known=known.prefix,
    )


def _ranked(corpus: Corpus, text: str, vector: Any) -> Ranking:
    lexical = corpus.lexicon.scores(terms.terms(text))
    cosine = None
    if vector is not None:
        cosine, known = corpus.cosines(vector)
        if not known.any():
            cosine = None
    return rank(lexical, cosine, corpus.short(SHORT_MESSAGE))


def _unfold(
    posted: History, decision: pack.Packed, known: _Known, corpus: Corpus, ranking: Ranking
) -> Unfolded:
    nodes, roots = known.all_nodes, known.frontier.nodes
    if known.open is not None:
        roots = (*roots, known.open.id)
    budget = decision.memory - MESSAGE_OVERHEAD
    return unfold(posted, roots, nodes, corpus, ranking, decision.cut, budget, tokens.count)


def _decayed(posted: History, decision: pack.Packed, known: _Known) -> Unfolded:
    """No tree over the whole in time: the older rounds, cut in the middle."""
    budget = decision.memory - MESSAGE_OVERHEAD
    share = float(budget)
    while True:
        spans = pack.decay(posted, known.frontier.messages, decision.cut, int(share))
        plan = Plan(decision.cut, excerpts=spans)
        text = render(plan, posted, {})
        size = tokens.count(text)
        if size <= budget or not spans:
            return Unfolded(plan, text, size, 0, [])
        share *= min(0.9, budget / size)  # labels and marks are not in the shares


def _passed(posted: History, ask: Ask) -> Answer:
    size = posted.tokens + posted.system_tokens
    return Answer(
        state="below-threshold",
        changed=False,
        messages=tuple(message.raw for message in ask.messages),
        address=posted.addresses[-1],
        raw_tokens=size,
        sent_tokens=size,
        system_tokens=posted.system_tokens,
        recent_tokens=posted.tokens,
        mode=ask.mode,
    )


def _assemble(
    posted: History,
    ask: Ask,
    decision: pack.Packed,
    known: _Known,
    unfolded: Unfolded | None,
    rows: Mapping[int, explain.Scored] = MappingProxyType({}),
) -> Answer:
    cut = decision.cut
    border = posted.posted[cut]
    front = [message.raw for index, message in posted.system if index < border]
    kept = [message.raw for index, message in enumerate(ask.messages) if index >= border]
    memory: list[bytes] = []
    size = 0
    if unfolded is not None:
        memory = [msgspec.json.encode({"role": "user", "content": unfolded.text})]
        size = unfolded.tokens + MESSAGE_OVERHEAD
    covered = sum(fact.tokens for fact in posted.facts[:cut]) if unfolded else 0
    answer = Answer(
        state=_state(known),
        changed=True,
        messages=(*front, *memory, *kept),
        address=posted.addresses[-1],
        raw_tokens=posted.tokens + posted.system_tokens,
        sent_tokens=posted.system_tokens + size + decision.recent,
        system_tokens=posted.system_tokens,
        cached_tokens=covered,
        outline_tokens=unfolded.outline_tokens if unfolded else 0,
        recent_tokens=decision.recent,
        excerpts=len(unfolded.plan.excerpts) if unfolded else 0,
        mode=ask.mode,
        explain=lambda: (
            explain.of(posted, unfolded, rows, known.all_nodes) if unfolded else explain.nothing()
        ),
    )
    return _with_index(answer, known)


def _with_index(answer: Answer, known: _Known) -> Answer:
    return replace(
        answer,
        indexed_tokens=known.frontier.tokens,
        indexed_messages=known.frontier.messages,
        pending_tokens=known.lacking,
    )


def _state(known: _Known) -> str:
    if known.trouble:
        return f"degraded:{known.trouble}"
    if known.lacking > PROVISIONAL_SHARE * max(1, known.frontier.tokens):
        return "provisional"
    return "packed"
