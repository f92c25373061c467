"""Plain ways to fit an agent's history into a budget, beside which the product is measured.

`newest`: the newest text, to the token. `masked`: older tool results left out, as many as must be.
`half`: half of the budget is the newest text, half are passages ranked by BM25 and MiniLM for the
last call. `files`: 0.3 of it is the newest text; the rest are passages of the files in hand, which
the last turns touched, and passages ranked as for `half`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.invariants import OVERHEAD, newest_round, size
from benchmarks.recall.agent_needs import Session, content, plain, specific, unescaped
from memtree.ports.models import Embedder
from memtree.ranking.bm25 import Lexicon
from memtree.text import terms, tokens

Row = NDArray[np.float32]
VERSION = 2  # of these rivals: figures of another one are measured again
NAMES = ("newest", "masked", "half", "files")
PASSAGE = 600  # characters of a passage at most, but for a long segment
AHEAD = 40  # messages in which the next embedded text is looked for
LABEL = 4  # tokens of a passage's label
TURNS = 15  # messages of the agent whose files are in hand
K = 20  # of reciprocal rank fusion
QUERY = 600  # characters of the last call
MASK = "[old tool result left out]"


@dataclass(frozen=True, slots=True)
class Shown:
    """Holds what a model is sent, and its tokens."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Passage:
    message: int
    text: str
    vector: Row


class Rivals:
    """The passages of one session, indexed once. `embedded`: the texts that the product embedded,
    in the session's order: passages are made of them, so that no text is embedded twice."""

    def __init__(self, session: Session, embedded: Sequence[tuple[str, Row]], embedder: Embedder):
        self._session, self._embedder = session, embedder
        found = list(passages(session, embedded))
        self._messages = np.array([passage.message for passage in found], np.int64)
        self._texts = [passage.text for passage in found]
        self._vectors = np.array([passage.vector for passage in found], np.float32)
        self._sizes = np.array(tokens.count_many(self._texts), np.int64) + LABEL
        packed = terms.pack(terms.terms(text) for text in self._texts)
        self._lexicon = Lexicon().extended([packed])
        self._files = [files(session, index) for index in range(len(session.messages))]

    async def shown(self, name: str, cut: int, target: int) -> Shown:
        if name == "newest":
            return newest(self._session, cut, target)[0]
        if name == "masked":
            return self._masked(cut, target)
        query = self.query(cut)
        words = self._lexicon.scores(terms.terms(query))
        meaning = self._vectors @ await self._embedder.embed_query(query)
        recent, begin = newest(self._session, cut, int(target * (0.5 if name == "half" else 0.3)))
        votes = _votes(words) + _votes(meaning)
        if name == "files":
            votes = votes + self._in_hand(cut)
        return self._filled(recent, begin, votes, target)

    def query(self, cut: int) -> str:
        """Return the last call with the beginning of what came of it."""
        last = self._session.texts[cut - 1][: QUERY // 2]
        agent = next((at for at in range(cut - 1, 0, -1) if self._session.agent(at)), cut - 1)
        return f"{self._session.texts[agent][-QUERY:]}\n{last}"

    def _masked(self, cut: int, target: int) -> Shown:
        """Leave out tool results, the oldest first, until the rest fits; then whole messages."""
        messages = self._session.messages[:cut]
        last = cut - len(newest_round(messages))
        sizes, texts = self._session.sizes[:cut], self._session.texts[:cut]
        total, mask = sum(sizes), tokens.count(MASK) + OVERHEAD
        for index in range(last):
            if total <= target:
                break
            if messages[index].role == "tool" and sizes[index] > mask:
                total -= sizes[index] - mask
                sizes[index], texts[index] = mask, MASK
        begin = 0
        while begin < last and total > target:
            total -= sizes[begin]
            begin += 1
        return Shown("\n".join(texts[begin:]), total)

    def _in_hand(self, cut: int) -> NDArray[np.float64]:
        """Return votes for passages of files that the last turns touched, the newest first."""
        agents = [at for at in range(cut) if self._session.agent(at)][-TURNS:]
        hand = {name for at in agents for name in self._files[at]}
        touched = np.array([bool(hand & names) for names in self._files[:cut]] or [False])
        recency = np.where(
            touched[np.minimum(self._messages, cut - 1)] & (self._messages < cut),
            self._messages + 1,
            0,
        )
        return 2.0 * _votes(recency.astype(np.float32), ties=True)

    def _filled(self, recent: Shown, begin: int, votes: NDArray[np.float64], target: int) -> Shown:
        room = target - recent.tokens - OVERHEAD
        chosen = []
        for place in np.argsort(-votes, kind="stable"):
            if votes[place] <= 0 or room <= LABEL:
                break
            if self._messages[place] >= begin or self._sizes[place] > room:
                continue
            if self._messages[place] == begin - 1 and self._texts[place] in recent.text:
                continue
            room -= int(self._sizes[place])
            chosen.append(int(place))
        texts = [self._texts[place] for place in sorted(chosen)]
        return Shown("\n".join([*texts, recent.text]), target - room)


def newest(session: Session, cut: int, target: int) -> tuple[Shown, int]:
    """Return the newest text, and the first message that is whole in it."""
    room, begin = target, cut
    while begin and session.sizes[begin - 1] <= room:
        begin -= 1
        room -= session.sizes[begin]
    parts = session.texts[begin:cut]
    if begin and room > 2 * OVERHEAD:
        piece = last_tokens(session.texts[begin - 1], room - OVERHEAD)
        room -= tokens.count(piece) + OVERHEAD
        parts = [piece, *parts]
    return Shown("\n".join(parts), target - room), begin


def files(session: Session, index: int) -> frozenset[str]:
    """Return the files that a message is about: those in its calls, or in the calls that it
    answers; for a message without calls those that its text names."""
    messages = session.messages
    message = messages[index]
    if message.role == "tool":
        id_ = message.fields.get("tool_call_id")
        before = (messages[at] for at in range(index - 1, -1, -1))
        caller = next((m for m in before if any(call.id == id_ for call in m.calls)), None)
        text = "\n".join(c.arguments for c in caller.calls if c.id == id_) if caller else ""
        return _paths(text)
    if message.calls:
        return _paths("\n".join(call.arguments for call in message.calls))
    return _paths(plain(message)) if message.role == "assistant" else frozenset()


def _paths(text: str) -> frozenset[str]:
    return frozenset(found for found in specific(text[:20_000]) if "." in found.rsplit("/", 1)[-1])


def passages(session: Session, embedded: Sequence[tuple[str, Row]]) -> Iterator[Passage]:
    """Yield passages of neighbouring texts of one message, with the mean of their vectors. The
    escapes of a call's arguments are decoded. A text that is not found near the one before it is
    left out: it was embedded in another order, or in other words."""
    raw = [
        "\n".join([content(message), *(call.arguments for call in message.calls)])
        for message in session.messages
    ]
    at = place = 0
    text, rows = "", list[Row]()
    for segment, row in embedded:
        found = _next_place(raw, segment, at, place)
        if found is None:
            continue
        if text and (found[0] != at or len(text) + len(segment) > PASSAGE):
            yield _passage(session, at, text, rows)
            text, rows = "", []
        at, place = found[0], found[1] + len(segment)
        text += segment
        rows.append(row)
    if text:
        yield _passage(session, at, text, rows)


def _next_place(raw: Sequence[str], segment: str, at: int, place: int) -> tuple[int, int] | None:
    if not segment.strip():
        return None
    for index in range(at, min(at + AHEAD, len(raw))):
        found = raw[index].find(segment, place if index == at else 0)
        if found >= 0:
            return index, found
    return None


def _passage(session: Session, message: int, text: str, rows: Sequence[Row]) -> Passage:
    mean = np.mean(rows, axis=0)
    plain_text = unescaped(text) if session.messages[message].calls else text
    return Passage(message, plain_text, mean / max(float(np.linalg.norm(mean)), 1e-9))


def last_tokens(text: str, room: int) -> str:
    """Return the end of a text, as long as the tokens allow."""
    text = text[-8 * room :]
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        if tokens.count(text[len(text) - middle :]) <= room:
            least = middle
        else:
            most = middle - 1
    return text[len(text) - least :]


def _votes(scores: NDArray[np.float32], *, ties: bool = False) -> NDArray[np.float64]:
    """Return reciprocal ranks; a passage without a score has none. `ties`: equal scores have equal
    ranks."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    if ties:
        _, inverse = np.unique(-scores, return_inverse=True)
        ranks = inverse + 1
    return np.where(scores > 0, 1 / (K + ranks), 0.0)


def whole(session: Session, cut: int) -> int:
    """Return the tokens of the newest round, which every answer holds."""
    return size(newest_round(session.messages[:cut]))
