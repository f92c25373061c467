"""Memories beside what is folded: where they stand, what stays of them, and when an epoch ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from memtree.context.turn_request import CompressRequest
from memtree.errors import StoreUnavailable
from memtree.history.message import Message
from memtree.ports.memory_sources import InjectedMemories, MemorySourceLines
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import OUTDATED, LineKind, MemoryLine, MemoryVersion
from tests.answered import Answered
from tests.made.shown_lines import lines_of
from tests.properties.process import (
    QUESTION,
    World,
    after,
    an_ask,
    assistant,
    begins,
    size_of,
    story,
    text_of,
    user,
)

pytestmark = pytest.mark.slow  # some seconds in all


class Notes:
    """Memories of one scope with all their versions; `MemoryLines` of them."""

    def __init__(self, scope: str = "chat c", kind: LineKind = LineKind.CHAT) -> None:
        self.scope, self.kind = scope, kind
        self.versions: dict[MemoryVersion, str] = {}
        self.newest: dict[str, int] = {}
        self.broken = False
        self.ages: float | None = None

    def save(self, id_: str, text: str) -> None:
        self.newest[id_] = self.newest.get(id_, 0) + 1
        self.versions[MemoryVersion(id_, self.newest[id_])] = text

    def delete(self, id_: str) -> None:
        del self.newest[id_]
        for known in [known for known in self.versions if known.id == id_]:
            del self.versions[known]

    def shown(self, *ids: str, hits: Sequence[str] | None = None) -> InjectedMemories:
        """Those memories, all of them hits unless said otherwise."""
        found = [MemoryVersion(id_, self.newest[id_]) for id_ in ids]
        lines = tuple(self.line(one) for one in found)
        named = tuple(ids if hits is None else hits)
        return InjectedMemories.of([MemorySourceLines(self.scope, lines, named, self)])

    def line(self, memory: MemoryVersion) -> MemoryLine:
        return MemoryLine(memory, self.versions[memory], self.kind, ages=self.ages)

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, MemoryLine]:
        if self.broken:
            raise StoreUnavailable("the store is away")
        return {one: self.line(one) for one in memories if one in self.versions}


DEADLINE = "The project deadline is March 15, 2026 (fact)"
BULLETS = "User prefers bullet points (preference)"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def notes() -> Notes:
    made = Notes()
    made.save("a", DEADLINE)
    made.save("b", BULLETS)
    return made


def block(*lines: str) -> str:
    return memory_lines.block(lines_of(lines))


def texts(answer: Answered) -> list[str]:
    return [Message(raw).text for raw in answer.messages]


# ---------------------------------------------------------------- in the memory message


@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_they_stand_behind_the_memory_of_the_conversation(world, notes, mode):
    ask = {"mode": mode, "memories": notes.shown("a", "b")}
    answer = await world.ask(story(), **ask)
    memory = texts(answer)[0]
    assert memory.startswith("<context_memory>\n")
    assert memory.endswith(f"</context_memory>\n\n{block(DEADLINE, BULLETS)}")
    assert answer.memories == ("a", "b")
    assert text_of(answer).count(DEADLINE) == 1


@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_without_memories_no_byte_is_another(world, notes, mode):
    bare = await world.ask(story(), mode=mode)
    none = await World().ask(story(), mode=mode, memories=notes.shown())
    assert none.messages == bare.messages
    assert none.memories == ()


@pytest.mark.parametrize(
    ("mode", "hard"),
    [
        ("fresh", True),
        ("stable", False),
        pytest.param("fresh", False, marks=pytest.mark.long),
        pytest.param("stable", True, marks=pytest.mark.long),
    ],
)
async def test_their_tokens_are_part_of_the_answers_size(world, notes, mode, hard):
    long = {f"m{n}": f"{'long words of a fact ' * 11}{n} (fact)" for n in range(5)}
    for id_, text in long.items():
        notes.save(id_, text)
    shown = notes.shown(*long)
    for target in (1_000, 2_000, 4_000, 8_000):
        other = World()
        answer = await other.ask(story(), mode=mode, hard=hard, target=target, memories=shown)
        assert abs(size_of(answer) - answer.sent_tokens) <= 3
        if hard:
            assert size_of(answer) <= target
        if target >= 4_000:
            assert answer.memories == tuple(long)


async def test_where_there_is_little_room_those_that_fit_the_message_come_first(world, notes):
    for number in range(5):
        notes.save(f"m{number}", f"{' '.join(str(7_919 * n) for n in range(40))} {number} (fact)")
    shown = notes.shown("m0", "m1", "m2", "m3", "m4", hits=["m2"])
    answer = await world.ask(story(), mode="fresh", hard=True, target=1_000, memories=shown)
    assert "m2" in answer.memories
    assert len(answer.memories) < 5
    assert list(answer.memories) == sorted(answer.memories)


# ---------------------------------------------------------------- within an epoch


async def test_a_new_hit_stands_before_the_newest_message_and_stays_there(world, notes):
    posted, answers = story(), []
    for number in range(6):
        shown = notes.shown("a", "b") if number == 2 else notes.shown("a")
        answers.append(await world.ask(posted, memories=shown))
        posted = after(posted, number)
    assert len({answer.epoch for answer in answers}) == 1
    assert all(begins(two, one) for one, two in pairwise(answers))
    assert texts(answers[2])[-1] == f"{block(BULLETS)}\n\nAnd it was so 1."
    assert [answer.memories for answer in answers] == [("a",)] * 2 + [("a", "b")] * 4


async def test_it_stands_behind_the_excerpts_of_a_recall_block(world, notes):
    posted = after(story(), 1)
    await world.ask(posted, memories=notes.shown("a"))
    asked = [*posted, assistant("Well."), user(QUESTION)]
    answer = await world.ask(asked, memories=notes.shown("a", "b"))
    newest = texts(answer)[-1]
    assert newest.startswith("<recalled_context>\n")
    assert newest.endswith(f"</recalled_context>\n\n{block(BULLETS)}\n\n{QUESTION}")
    before = newest.removesuffix(QUESTION)
    assert answer.recall_tokens == pytest.approx(tokens.count(before), abs=1)
    again = await world.ask(asked, memories=notes.shown("a", "b"))
    assert again.messages == answer.messages
    later = await world.ask(after(asked, 2), memories=notes.shown("a"))
    assert begins(later, answer)


async def test_what_was_shown_and_fits_no_more_is_not_taken_out(world, notes):
    posted = story()
    first = await world.ask(posted, memories=notes.shown("a", "b"))
    later = await world.ask(after(posted, 1), memories=notes.shown())
    assert begins(later, first)
    assert later.memories == ("a", "b")


async def test_what_is_shown_and_no_hit_waits_for_the_next_epoch(world, notes):
    posted = story()
    first = await world.ask(posted, memories=notes.shown("a"))
    later = await world.ask(after(posted, 1), memories=notes.shown("a", "b", hits=["a"]))
    assert later.memories == ("a",)
    world.clock.time += 4_000
    new = await world.ask(after(posted, 1), memories=notes.shown("a", "b", hits=["a"]))
    assert new.epoch != first.epoch
    assert texts(new)[0].endswith(block(DEADLINE, BULLETS))


@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_what_is_old_says_so_where_an_epoch_begins(world, notes, mode):
    notes.ages = world.clock.time - 1
    answer = await world.ask(story(), mode=mode, memories=notes.shown("a"))
    assert texts(answer)[0].endswith(block(f"{DEADLINE[:-1]}{OUTDATED})"))


async def test_within_an_epoch_nothing_grows_old(world, notes):
    posted, answers = story(), []
    notes.ages = world.clock.time + 100
    for number in range(4):
        shown = notes.shown("a", "b") if number == 2 else notes.shown("a")
        answers.append(await world.ask(posted, memories=shown))
        posted = after(posted, number)
        world.clock.time += 60
    assert len({answer.epoch for answer in answers}) == 1
    assert all(begins(two, one) for one, two in pairwise(answers))
    assert block(BULLETS) in text_of(answers[3])
    world.clock.time += 4_000
    new = await world.ask(posted, memories=notes.shown("a", "b"))
    assert text_of(new).count(OUTDATED) == 2


async def test_a_repeated_request_gives_the_same_bytes_whatever_was_saved_since(world, notes):
    posted = after(story(), 1)
    await world.ask(story(), memories=notes.shown())
    first = await world.ask(posted, memories=notes.shown("a"))
    again = await world.ask(posted, memories=notes.shown("a", "b"))
    assert again.messages == first.messages
    assert again.memories == ("a",)


async def test_in_a_tool_loop_nothing_is_put_before_what_was_sent(world, notes):
    posted = story()
    first = await world.ask(posted, memories=notes.shown("a"))
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    loop = [*posted, asked, {"role": "tool", "tool_call_id": "c", "content": "42"}]
    second = await world.ask(loop, memories=notes.shown("a", "b"))
    assert begins(second, first)
    assert second.memories == ("a",)


async def test_a_message_without_text_gets_them_too(world, notes):
    posted = after(story(), 1)
    await world.ask(story(), memories=notes.shown("a"))
    parts = [*posted[:-1], user([{"type": "text", "text": "And so?"}])]
    answer = await world.ask(parts, memories=notes.shown("a", "b"))
    content = Message(answer.messages[-1]).content
    assert content == [
        {"type": "text", "text": f"{block(BULLETS)}\n\n"},
        {"type": "text", "text": "And so?"},
    ]


# ---------------------------------------------------------------- several sources


def together(*shown: InjectedMemories) -> InjectedMemories:
    return InjectedMemories.of([source for one in shown for source in one.sources])


@pytest.fixture
def passages() -> Notes:
    made = Notes("namespace", LineKind.DOCUMENT)
    for number in range(3):
        made.save(f"p{number}", f"[a.md {number}/3] {'It is written so. ' * 60}{number}")
    return made


async def test_a_long_passage_that_does_not_fit_leaves_its_place_to_shorter_lines(
    world, notes, passages
):
    shown = together(notes.shown("a", "b"), passages.shown("p0", "p1", "p2"))
    answer = await world.ask(story(), mode="fresh", hard=True, target=1_200, memories=shown)
    assert {"a", "b"} <= set(answer.memories)
    assert len({"p0", "p1", "p2"} & set(answer.memories)) < 3
    assert abs(size_of(answer) - answer.sent_tokens) <= 3


async def test_in_an_epoch_each_source_keeps_its_lines(world, notes, passages):
    mine = Notes("user", LineKind.USER)
    mine.save("u", "User lives in Graz (fact)")
    posted, answers = story(), []
    for number in range(5):
        hits = {1: ["u"], 3: ["p0"]}.get(number, [])
        shown = together(
            notes.shown("a"),
            mine.shown("u", hits=[one for one in hits if one == "u"]),
            passages.shown("p0", hits=[one for one in hits if one == "p0"]),
        )
        if number == 0:
            shown = together(notes.shown("a"), mine.shown(), passages.shown())
        answers.append(await world.ask(posted, memories=shown))
        posted = after(posted, number)
    assert len({answer.epoch for answer in answers}) == 1
    assert all(begins(two, one) for one, two in pairwise(answers))
    assert [answer.memories for answer in answers] == [
        ("a",),
        ("a", "u"),
        ("a", "u"),
        ("a", "u", "p0"),
        ("a", "u", "p0"),
    ]
    told = memory_lines.block([mine.line(MemoryVersion("u", 1))])
    assert texts(answers[1])[-1] == f"{told}\n\nAnd it was so 0."
    passages.delete("p0")
    last = together(notes.shown("a"), mine.shown("u", hits=[]), passages.shown())
    deleted = await world.ask(posted, memories=last)
    assert deleted.epoch != answers[-1].epoch
    assert "[a.md" not in text_of(deleted)


async def test_what_another_source_has_told_in_the_epoch_is_not_told_again(world, notes):
    mine = Notes("user", LineKind.USER)
    mine.save("u", f"{DEADLINE.removesuffix(' (fact)')}. (general)")
    posted = story()
    first = together(notes.shown("a"), mine.shown())
    await world.ask(posted, memories=first)
    later = together(notes.shown(), mine.shown("u"))
    answer = await world.ask(after(posted, 1), memories=later)
    assert answer.memories == ("a",)


async def test_without_one_of_its_sources_an_epoch_does_not_go_on(world, notes, passages):
    posted = story()
    both = together(notes.shown("a"), passages.shown("p0"))
    first = await world.ask(posted, target=8_000, memories=both)
    assert "p0" in first.memories
    alone = await world.ask(after(posted, 1), target=8_000, memories=notes.shown("a"))
    assert alone.epoch != first.epoch
    assert "[a.md" not in text_of(alone)
    back = await world.ask(after(posted, 1), target=8_000, memories=both)
    assert begins(back, first)


# ---------------------------------------------------------------- edits, deletions, scopes


async def test_an_edited_memory_keeps_its_old_line_and_a_hit_shows_the_new_one(world, notes):
    posted = story()
    first = await world.ask(posted, memories=notes.shown("a"))
    notes.save("a", "The deadline is April 1, 2026 (fact)")
    second = await world.ask(after(posted, 1), memories=notes.shown("a", hits=[]))
    assert begins(second, first)
    assert "April" not in text_of(second)
    third = await world.ask(after(after(posted, 1), 2), memories=notes.shown("a"))
    assert begins(third, second)
    assert texts(third)[-1].startswith(block("The deadline is April 1, 2026 (fact)"))
    assert third.memories == ("a",)
    fourth = await world.ask(after(after(after(posted, 1), 2), 3), memories=notes.shown("a"))
    assert begins(fourth, third)
    assert text_of(fourth).count("April") == 1


@pytest.mark.parametrize("where", ["memory message", "block"])
async def test_a_deleted_memory_ends_the_epoch_at_once(world, notes, where):
    posted = story()
    if where == "memory message":
        first = await world.ask(posted, memories=notes.shown("a", "b"))
    else:
        await world.ask(posted, memories=notes.shown("b"))
        posted = after(posted, 1)
        first = await world.ask(posted, memories=notes.shown("a", "b"))
    assert DEADLINE in text_of(first)
    notes.delete("a")
    again = await world.ask(posted, memories=notes.shown("b", hits=[]))
    later = await world.ask(after(posted, 2), memories=notes.shown("b", hits=[]))
    assert first.epoch != again.epoch == later.epoch
    for answer in (again, later):
        assert DEADLINE not in text_of(answer)
        assert BULLETS in text_of(answer)
        assert answer.memories == ("b",)


async def test_what_one_chat_was_shown_is_not_sent_in_another(world, notes):
    other = Notes("chat d")
    other.save("x", "The door code is 4711 (fact)")
    posted = story()
    mine = await world.ask(posted, memories=notes.shown("a"))
    theirs = await world.ask(after(posted, 1), memories=other.shown("x"))
    nobodys = await world.ask(after(posted, 1))
    assert DEADLINE not in text_of(theirs) + text_of(nobodys)
    assert "4711" in text_of(theirs)
    assert len({mine.epoch, theirs.epoch, nobodys.epoch}) == 3
    back = await world.ask(after(posted, 2), memories=notes.shown("a"))
    assert begins(back, mine)


async def test_where_lines_cannot_be_read_the_answer_stands_without_what_was_kept(world, notes):
    posted = story()
    first = await world.ask(posted, memories=notes.shown("a"))
    notes.broken = True
    answer = await world.ask(after(posted, 1), memories=notes.shown())
    assert answer.changed
    assert DEADLINE not in text_of(answer)
    notes.broken = False
    assert begins(await world.ask(after(posted, 1), memories=notes.shown("a")), first)


async def test_two_processes_send_the_same_bytes(world, notes):
    other = world.memory()
    posted, answers = story(), []
    for number, memory in enumerate([None, other, None, other]):
        shown = notes.shown("a", "b") if number == 2 else notes.shown("a")
        answers.append(await world.ask(posted, memory, memories=shown))
        posted = after(posted, number)
    assert all(begins(two, one) for one, two in pairwise(answers))


async def test_nothing_of_them_is_indexed_or_kept(world, notes):
    notes.save("mem_known", DEADLINE)
    shown = notes.shown("mem_known")
    posted = story()
    for number in range(3):
        answer = await world.ask(posted, memories=shown)
        posted = after(posted, number)
    bare = await World().ask(posted)
    assert (await world.ask(posted)).address == bare.address
    kept = repr(world.rows)
    assert "mem_known" in kept
    assert DEADLINE not in kept
    assert DEADLINE in text_of(answer)


def test_the_request_of_a_chat_without_memories_is_what_it_was():
    ask = an_ask(story())
    assert ask == CompressRequest("t", ask.messages, target=4_000, mode="stable")
    assert ask.memories is None
