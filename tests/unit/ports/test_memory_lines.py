"""Memories of several sources in one request: what stands there once, and what matters most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.ports.memory_sources import InjectedMemories, MemorySourceLines
from memtree.text.memory_lines import LineKind, MemoryLine, MemoryVersion
from tests.made.shown_lines import lines_of

CHAT = lines_of(["Tea at four (fact)", "Deadline: March (fact)"], LineKind.CHAT)
USER = lines_of(["Likes honey", "deadline: march.", "Lives in Graz (fact)"], LineKind.USER)
PASSAGES = lines_of(["[a.md] Tea is served", "[a.md] Honey"], LineKind.DOCUMENT)


class Kept:
    """Lines that a store has; `asked` counts."""

    def __init__(self, lines: Sequence[MemoryLine]) -> None:
        self.known = {line.memory: line for line in lines}
        self.asked: list[list[str]] = []

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, MemoryLine]:
        self.asked.append([memory.id for memory in memories])
        return {memory: self.known[memory] for memory in memories if memory in self.known}


def source(lines: Sequence[MemoryLine], *hits: int) -> MemorySourceLines:
    named = tuple(lines[hit].memory.id for hit in hits)
    return MemorySourceLines(str(lines[0].kind), tuple(lines), named, Kept(lines))


def texts(lines: Sequence[MemoryLine]) -> list[str]:
    return [line.text for line in lines]


def test_source_by_source():
    memories = InjectedMemories.of([source(CHAT, 0), source(PASSAGES, 1)])
    assert memories.lines == (*CHAT, *PASSAGES)
    assert memories.hits == ("chat0", "document1")
    assert memories.scope == "chat document"
    assert InjectedMemories.of([]).lines == ()


def test_what_two_sources_say_stands_there_once_as_that_of_the_first():
    memories = InjectedMemories.of([source(CHAT), source(USER, 1, 0)])
    assert texts(memories.lines) == [
        "Tea at four (fact)",
        "Deadline: March (fact)",
        "Likes honey",
        "Lives in Graz (fact)",
    ]
    assert memories.hits == ("chat1", "user0")  # the hit of one counts for the other


def test_one_source_may_say_the_same_twice():
    """The words before a correction and those after it stand under one heading."""
    twice = lines_of(["Likes tea (fact)", "Likes tea (preference)"])
    assert InjectedMemories.of([source(twice)]).lines == twice


def test_hits_of_all_sources_matter_most_then_what_is_newest():
    memories = InjectedMemories.of([source(CHAT, 1), source(USER, 2, 0), source(PASSAGES, 1, 0)])
    assert [line.memory.id for line in memories.ranked()] == [
        "chat1",
        "user2",
        "document1",
        "user0",
        "document0",
        "chat0",
    ]


async def test_what_was_sent_before_is_looked_for_in_each_source():
    sources = [source(CHAT), source(USER), source(PASSAGES)]
    memories = InjectedMemories.of(sources)
    wanted = [PASSAGES[0].memory, CHAT[1].memory, MemoryVersion("gone", 1)]
    assert await memories.kept(wanted) == {wanted[0]: PASSAGES[0], wanted[1]: CHAT[1]}
    asked = [one.kept.asked for one in sources if isinstance(one.kept, Kept)]
    assert asked == [
        [["document0", "chat1", "gone"]],
        [["document0", "gone"]],
        [["document0", "gone"]],
    ]
    assert await memories.kept([]) == {}
