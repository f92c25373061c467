"""Is what answers a question among the memories that the rules extracted? Recorded talks of two
people: each turn is read as a message of the user, what is extracted of it is saved in the order of
the talk, and each question is asked. A memory answers where the turn that it came from is one that
answers, verbatim or not. Beside it: every turn saved as it is. No judge, no model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from benchmarks.data import ADVERSARIAL, Conversation
from benchmarks.memories.memory_search import Found, Turn, opened, remember, talk_turns
from benchmarks.report import Row
from benchmarks.subject import Bench, percent
from memtree.memories.rule_extraction import Candidate, extract
from memtree.memories.scope import Scope
from memtree.memories.search.scope_search import MemorySearch
from memtree.models.local_embedder import MemoryEmbedder
from memtree.stores import Memories

DEPTHS = (3, 5)
NOWHERE = 1 << 30
_DATED = re.compile(r"\[\d+:\d\d [ap]m on (\d{1,2} [A-Z][a-z]+, \d{4})\]")
_SPEAKER = re.compile(r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)?: ")
_USER = re.compile(r"\b(?:The )?[Uu]ser(?=\b|'s)")


@dataclass(frozen=True, slots=True)
class Kept:
    """A text that is saved, and the number of the turn that it came from."""

    text: str
    turn: int
    session: str


@dataclass(frozen=True, slots=True)
class Talk:
    """`asked`: (question, numbers of the turns that answer it)."""

    turns: tuple[Turn, ...]
    extracted: tuple[Kept, ...]
    named: tuple[Kept, ...]  # the same, with the speaker's name for "User"
    asked: tuple[tuple[str, tuple[int, ...]], ...]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    talks = {talk.id: read(talk) for talk in bench.data.locomo()}
    rows = [*_counts(list(talks.values()))]
    ways: dict[str, Callable[[Talk], Sequence[Kept]]] = {
        "every turn": lambda talk: [
            Kept(turn.text, at, turn.session) for at, turn in enumerate(talk.turns)
        ],
        "extracted": lambda talk: talk.extracted,
        "extracted, with the speaker's name": lambda talk: talk.named,
    }
    async with opened(bench.keep, "extraction_recall.db") as (store, embedder):
        for way, kept in ways.items():
            found: list[Found] = []
            for name, talk in talks.items():
                texts = kept(talk)
                # Kept between runs, while the same is extracted.
                version = zlib.crc32("\n".join(one.text for one in texts).encode())
                scope = Scope.of_chat(f"{way} {version:08x}", name)
                found += await _asked(store, embedder, scope, talk, texts)
            for depth in DEPTHS:
                shares = [one.any(depth) for one in found]
                rows.append(Row(f"{way}: any evidence in {depth}", percent(shares), "%"))
    return rows, []


def read(talk: Conversation) -> Talk:
    turns = tuple(talk_turns(talk.messages))
    days = _days(talk)
    extracted: list[Kept] = []
    named: list[Kept] = []
    for at, turn in enumerate(turns):
        speaker = _SPEAKER.match(turn.text)
        said = turn.text[speaker.end() :] if speaker else turn.text
        said = said.partition(" [photo: ")[0]
        for one in _extracted(said, days[at]):
            name = speaker.group()[:-2] if speaker else "User"
            extracted.append(Kept(one.text, at, turn.session))
            named.append(Kept(_USER.sub(name, one.text), at, turn.session))
    asked = tuple(
        (probe.question, _answering(turns, [t for ts in probe.evidence.values() for t in ts]))
        for probe in talk.probes
        if probe.kind != ADVERSARIAL
    )
    return Talk(turns, tuple(extracted), tuple(named), asked)


def _extracted(text: str, said: date) -> tuple[Candidate, ...]:
    return extract(text, said).candidates


def _days(talk: Conversation) -> list[date]:
    """The day of each turn: a session begins with the line of its date."""
    day, days = date(2023, 1, 1), []
    for message in talk.messages:
        if match := _DATED.match(message.text):
            day = datetime.strptime(match[1], "%d %B, %Y").date()
        days.append(day)
    return days


def _answering(turns: Sequence[Turn], texts: Sequence[str]) -> tuple[int, ...]:
    places = (
        next((at for at, turn in enumerate(turns) if text in turn.text), -1) for text in texts
    )
    return tuple(at for at in places if at >= 0)


def _counts(talks: Sequence[Talk]) -> list[Row]:
    turns = sum(len(talk.turns) for talk in talks)
    kept = sum(len(talk.extracted) for talk in talks)
    answering = {(n, at) for n, talk in enumerate(talks) for _, ats in talk.asked for at in ats}
    sources = {(n, one.turn) for n, talk in enumerate(talks) for one in talk.extracted}
    within = 100.0 * len(sources & answering) / max(1, len(answering))
    return [
        Row("turns", turns),
        Row("memories extracted", kept),
        Row("turns that something was extracted from", 100.0 * len(sources) / turns, "%"),
        Row("turns that answer a question: something was extracted", within, "%"),
    ]


async def _asked(
    store: Memories,
    embedder: MemoryEmbedder,
    scope: Scope,
    talk: Talk,
    kept: Sequence[Kept],
) -> list[Found]:
    await remember(store, embedder, scope, [Turn(one.text, one.session) for one in kept])
    search = MemorySearch(store, embedder, now=lambda: 0.0)
    found = []
    for question, answering in talk.asked:
        hits = (await search.search(scope, question, limit=DEPTHS[-1])).hits
        sources = [kept[int(hit.memory.id.rpartition("_")[2])].turn for hit in hits]
        ranks = (sources.index(at) if at in sources else NOWHERE for at in answering)
        found.append(Found(tuple(ranks), max(1, len(answering))))
    return found
