"""Parts of answers: early vectors, days, rounds that load tools, instructions that stay."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memtree.clock import DAY, date_of, day_of
from memtree.context import retrieval
from memtree.context.answer import KeptMessage, MemoryText
from memtree.context.turn_request import CompressRequest
from memtree.errors import BadRequest, EmbedderUnavailable
from memtree.history.message import Message
from memtree.ports.request_log import StateSums
from memtree.ranking import ranked_history
from memtree.text import tokens
from memtree_proxy.api.usage_route import IN_UTC, DayShift, day_shifts, local_day, moved, time_zone
from memtree_proxy.http.usage_tallies import RAW, SAVED, STATE
from tests.answered import Answered, compressed
from tests.programs.sessions import chat
from tests.properties.process import World, after, begins, size_of, story, text_of, user

# ------------------------------------------------------------------------------------------------
# A question is embedded while its tree is looked up and grown, once, and only where it matters.


class Noted:
    """The world's embedder; says what was asked, and lets an embedding wait."""

    def __init__(self, world: World) -> None:
        self._embedder = world.embedder
        self.world = world
        self.asked: list[str] = []
        self.store_calls: list[int] = []  # before each
        self.began, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()
        self.cancelled = 0
        self.broken = False

    def __getattr__(self, name):
        return getattr(self._embedder, name)

    async def embed_query(self, query):
        await self._begun([query])
        return await self._embedder.embed_query(query)

    async def embed_queries(self, queries):
        await self._begun(queries)
        return await self._embedder.embed_queries(queries)

    async def _begun(self, queries):
        self.asked += queries
        self.began.set()
        self.store_calls.append(len(self.world.store.calls))
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.broken:
            raise EmbedderUnavailable("down")


def a_world():
    world = World(embedding=True)
    world.embedder = noted = Noted(world)
    world.used = world.memory()
    return world, noted


def asking(posted):
    return [*posted[:-1], user("Which of these harbours did we say opens at seven, and why?")]


@pytest.mark.slow
async def test_the_question_is_embedded_before_the_tree_grows():
    for mode in ("stable", "fresh"):
        world, noted = a_world()
        await world.ask(asking(story()), mode=mode)
        assert len(noted.asked) == 1
        assert "commit" in world.store.calls[noted.store_calls[0] :]


def working():
    call = {"id": "c", "type": "function", "function": {"name": "grep", "arguments": '{"p":"x"}'}}
    said = {"role": "assistant", "content": "I look for x.", "tool_calls": [call]}
    return [*asking(story()), said, {"role": "tool", "tool_call_id": "c", "content": "x = 7"}]


@pytest.mark.slow
async def test_in_a_tool_loop_text_and_call_are_embedded_before_the_tree_grows():
    """In one call of the embedder, and not the request, which is the same in every turn."""
    for mode in ("stable", "fresh"):
        world, noted = a_world()
        await world.ask(working(), mode=mode)
        assert noted.asked == ["I look for x.", "grep x"]
        assert len(noted.store_calls) == 1
        assert "commit" in world.store.calls[noted.store_calls[0] :]


@pytest.mark.slow
async def test_words_rank_a_tool_loop_where_the_embedder_fails():
    world, noted = a_world()
    noted.broken = True
    answer = await world.ask(working(), mode="fresh")
    assert answer.messages
    assert len(noted.store_calls) == 1


@pytest.mark.slow
async def test_within_an_epoch_only_a_question_is_embedded_and_a_repeated_request_is_not():
    world, noted = a_world()
    posted = asking(story())
    await world.ask(posted)
    noted.asked.clear()
    await world.ask(posted)
    assert noted.asked == []
    thanks = [*after(posted, 1)[:-1], user("ok, thanks")]
    await world.ask(thanks)
    assert noted.asked == []
    await world.ask(asking(after(posted, 1)))
    assert len(noted.asked) == 1


@pytest.mark.slow
async def test_an_embedding_does_not_outlive_its_request():
    world, noted = a_world()
    noted.go.clear()
    request = asyncio.create_task(world.ask(asking(story())))
    await noted.began.wait()
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    assert noted.cancelled == 1


@pytest.mark.slow
async def test_words_rank_where_the_embedder_fails():
    world, noted = a_world()
    noted.broken = True
    answer = await world.ask(asking(story()))
    assert answer.epoch
    assert len(noted.asked) == 1


@pytest.mark.slow
async def test_a_question_is_embedded_without_the_names_of_speakers_too(monkeypatch):
    """It is ranked by the mean of both vectors; one that names nobody is embedded once."""
    world, noted = a_world()
    names = {"user": "Ada", "assistant": "Bob"}
    talk = [{**said, "content": f"{names[said['role']]}: {said['content']}"} for said in story()]
    used = []

    def ranking(corpus, query, vectors):
        used.extend(vectors)
        return ranked_history.ranking(corpus, query, vectors)

    monkeypatch.setattr(retrieval, "ranking", ranking)
    named, bare = "Which harbour does Bob open at seven?", "Which harbour does  open at seven?"
    await world.ask([*talk[:-1], user(named)], mode="fresh")
    assert noted.asked == [named, bare]
    plain = World(embedding=True).embedder
    vectors = [await plain.embed_query(each) for each in (named, bare)]
    np.testing.assert_allclose(used[-1], (vectors[0] + vectors[1]) / 2, atol=1e-6)
    noted.asked.clear()
    await world.ask([*talk[:-1], user("Which harbour opens at seven?")], mode="fresh")
    assert len(noted.asked) == 1


# ------------------------------------------------------------------------------------------------
# Days of a time zone, made of the days in UTC and the log.


HOUR = 3_600
BERLIN = ZoneInfo("Europe/Berlin")


def number(day: str) -> int:
    return (date.fromisoformat(day) - date(1970, 1, 1)).days


def test_in_utc_nothing_moves() -> None:
    assert day_shifts(10, 40, UTC) == []


def test_west_and_east() -> None:
    west, east = (timezone(timedelta(hours=hours)) for hours in (-8, 13))
    assert day_shifts(5, 5, west)[0] == DayShift(5.0 * DAY, 5.0 * DAY + 8 * HOUR, 5, 4)
    assert day_shifts(5, 5, east)[0] == DayShift(5.0 * DAY - 13 * HOUR, 5.0 * DAY, 4, 5)


def test_summer_time_begins_and_ends_between_two_days() -> None:
    widths = {}
    for day in ("2026-03-29", "2026-03-30", "2026-10-25", "2026-10-26"):
        shift = day_shifts(number(day), number(day), BERLIN)[0]
        widths[day] = round((shift.until - shift.since) / HOUR)
    assert list(widths.values()) == [1, 2, 2, 1]


@pytest.mark.parametrize("zone", [UTC, BERLIN, timezone(timedelta(hours=-11))])
def test_the_day_there(zone: tzinfo) -> None:
    for hour in range(48):
        now = 1_772_879_400.0 + hour * HOUR
        assert date_of(local_day(now, zone)) == datetime.fromtimestamp(now, zone).date()
    assert local_day(now, UTC) == day_of(now)


def test_what_the_log_does_not_know_stays_where_it_is_counted() -> None:
    shift = DayShift(0, 1, away=4, to=5)
    counted = {4: {STATE + "packed": 2, RAW: 100, SAVED: 50_000}}
    assert moved(counted, [(shift, [])]) == counted
    one = StateSums("packed", 1, 70, 0, -10)
    assert moved(counted, [(shift, [one])]) == {
        4: {STATE + "packed": 1, RAW: 30, SAVED: 60_000},
        5: {STATE + "packed": 1, RAW: 70, SAVED: -10_000},
    }


def test_a_row_that_was_never_counted_makes_no_day_negative() -> None:
    found = moved({}, [(DayShift(0, 1, away=4, to=5), [StateSums("packed", 1, 70, 9, 0)])])
    assert found[4] == {}
    assert found[5][RAW] == 70


@pytest.mark.parametrize("named", ["Europe/Berlin", "+02:00", "-0930", "Etc/GMT+5"])
def test_zones(named: str) -> None:
    assert time_zone(named, "timezone").name == named


def test_a_plus_sign_that_nobody_encoded() -> None:
    assert time_zone(" 02:00", "timezone").name == "+02:00"
    assert time_zone(None, "timezone") == IN_UTC == time_zone("UTC", "timezone")


@pytest.mark.parametrize(
    "named", ["", "Berlin", "America", "../etc/passwd", "+15:00", "+2", "A" * 70, "+01:60", "\0"]
)
def test_no_zones(named: str) -> None:
    with pytest.raises(BadRequest, match="timezone must be a time zone") as caught:
        time_zone(named, "timezone")
    assert caught.value.param == "timezone"


# ------------------------------------------------------------------------------------------------
# Rounds that load tools, in answers: whole, once, and at the same place while an epoch lasts.


LOADED = "The Zebrafish tool is loaded and may be called from now on."
AT = 31  # where the round stands
CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q":"z"}'}}
ROUND: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": LOADED},
    user("<system-reminder>\nBe brief.\n</system-reminder>"),
]


@pytest.fixture
def world() -> World:
    return World()


def posted() -> list[dict[str, Any]]:
    history = story()
    return [*history[:AT], *ROUND, *history[AT:]]


async def ask(world: World, history: list[dict[str, Any]], **named: Any) -> Answered:
    messages = [
        Message(
            Message.of(one).raw,
            joined=at == AT + 2,
            loads=frozenset({"Zebrafish"}) if at == AT + 1 else frozenset(),
        )
        for at, one in enumerate(history)
    ]
    options = {"target": 4_000, "mode": "stable", "dialect": "messages", **named}
    return await compressed(world.used, CompressRequest("t", tuple(messages), **options))


def places(answer: Answered) -> list[int]:
    return [item.index for item in answer.items if isinstance(item, KeptMessage)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
@pytest.mark.parametrize("hard", [False, True])
async def test_it_stands_whole_behind_memory(world: World, mode: str, hard: bool) -> None:
    history = posted()
    answer = await ask(world, history, mode=mode, hard=hard)
    assert isinstance(answer.items[0], MemoryText)
    kept = places(answer)
    assert kept[:3] == [AT, AT + 1, AT + 2]
    assert kept[3:] == list(range(kept[3], len(history)))
    assert kept[3] > AT + 3
    assert answer.messages[1:4] == tuple(Message.of(one).raw for one in ROUND)
    assert LOADED not in answer.items[0].text.splitlines()  # quoted; a summary may name it
    assert answer.sent_tokens == pytest.approx(size_of(answer), abs=60)
    sizes = [tokens.count(Message.of(one).text) + 4 for one in history[kept[3] :]]
    assert answer.recent_tokens == sum(sizes)
    plain = await world.ask(history, mode=mode, hard=hard)
    assert LOADED.encode() not in b"".join(plain.messages[1:])
    assert not hard or answer.sent_tokens <= 4_000


@pytest.mark.slow
async def test_an_epoch_only_grows_and_asks_for_no_quote_of_it(world: World) -> None:
    history = posted()
    history[-1] = user("What was said of the Zebrafish tool, and may it be called?")
    answers = []
    for number in range(4):
        answers.append(await ask(world, history))
        history = after(history, number)
        history[-1] = user(f"And what of the Zebrafish tool, number {number}?")
    assert len({answer.epoch for answer in answers}) == 1
    assert all(begins(two, one) for one, two in pairwise(answers))
    for answer in answers:
        assert text_of(answer).splitlines().count(LOADED) == 1
        assert answer.cached_tokens == answers[0].cached_tokens
    assert not any(answer.stays > answer.sent_tokens for answer in answers)


@pytest.mark.slow
async def test_without_tools_to_load_nothing_is_pinned(world: World) -> None:
    answer = await world.ask(posted(), dialect="messages")
    kept = places(answer)
    assert kept == list(range(kept[0], len(posted())))


# ------------------------------------------------------------------------------------------------
# Instructions in the first user message stay in the prompt when that message is folded.


RULES = "<system-reminder>\nAlways use tabs, says CLAUDE.md.\n</system-reminder>"
DETAILS = "<environment_details>12:00</environment_details>"
AGENTS = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nUse pnpm.\n</INSTRUCTIONS>"


def talk(first: Any, turns: int = 301) -> list[dict[str, Any]]:
    """Some 14,000 tokens behind a first message of the user with that content."""
    return [{"role": "user", "content": first}, *chat(turns)[1:]]


def memory_of(answer: Any) -> Any:
    """The content of the memory message."""
    contents = [json.loads(raw)["content"] for raw in answer.messages]
    return next(c for c in contents if "<context_memory>" in json.dumps(c))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_a_string_gets_the_blocks_in_front(mode):
    world = World()
    answer = await world.ask(talk(f"{RULES}\n{DETAILS}\nGreet me."), mode=mode)
    content = memory_of(answer)
    assert content.startswith(f"{RULES}\n\n<context_memory>")
    assert DETAILS not in content


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_a_list_keeps_its_parts(mode):
    marked = {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}
    parts = [marked, {"type": "text", "text": AGENTS}, {"type": "text", "text": "Greet me."}]
    content = memory_of(await World().ask(talk(parts), mode=mode))
    assert [part["text"] for part in content[:2]] == [RULES, AGENTS]
    assert content[2]["text"].startswith("<context_memory>")
    assert len(content) == 3
    assert "cache_control" not in content[0], "markers stand where memory puts its own"


@pytest.mark.slow
async def test_it_counts_against_the_window_and_not_against_the_target():
    long = f"<system-reminder>{'Use tabs. ' * 3_000}</system-reminder>"
    plain = await World().ask(talk("Greet me."), mode="fresh")
    answer = await World().ask(talk(f"{long}Greet me."), mode="fresh")
    assert 9_000 - 400 < answer.sent_tokens - plain.sent_tokens < 9_000 + 400
    small = await World().ask(talk(f"{long}Greet me."), mode="fresh", window=16_000)
    assert small.sent_tokens < answer.sent_tokens
    assert long in memory_of(small)


@pytest.mark.slow
async def test_a_changed_block_changes_bytes_and_keeps_epoch_and_address():
    world = World()
    posted = talk(f"{RULES}Greet me.")
    first = await world.ask(posted)
    other = await world.ask(talk(f"{AGENTS}Greet me."))
    assert (first.epoch, first.address) == (other.epoch, other.address)
    assert memory_of(first).removeprefix(RULES) == memory_of(other).removeprefix(AGENTS)


@pytest.mark.slow
async def test_within_an_epoch_it_is_the_same():
    world = World()
    posted = talk(f"{RULES}Greet me.")
    answers = []
    for number in range(6):
        posted = [*posted, *chat(3, seed=number)[1:]]
        answers.append(await world.ask(list(posted)))
    same = [pair for pair in pairwise(answers) if pair[0].epoch == pair[1].epoch]
    assert same
    assert all(begins(later, earlier) for earlier, later in same)
    assert all(memory_of(answer).startswith(RULES) for answer in answers)


@pytest.mark.slow
async def test_a_first_message_that_goes_whole_is_not_told_twice():
    world = World()
    answer = await world.ask(talk(f"{RULES}Greet me."), mode="fresh", keep_first=True)
    text = "".join(json.dumps(json.loads(raw)["content"]) for raw in answer.messages)
    assert text.count("Always use tabs") == 1


@pytest.mark.slow
async def test_nothing_of_it_is_stored():
    world = World()
    await world.ask(talk(f"{RULES}Greet me."))
    rows = repr(world.rows)
    assert "tabs" not in rows
    assert world.rows["nodes"]


async def test_below_the_threshold_all_is_as_posted():
    request = CompressRequest("t", tuple(map(Message.of, talk(f"{RULES}Greet me.", 8))))
    answer = await World().used.compress(replace(request, mode="stable"))
    assert not answer.changed
