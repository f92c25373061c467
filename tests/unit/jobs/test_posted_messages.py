"""Check what is read of posted messages, and what a model fills schemas with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from memtree.agents.agent_messages import StructuredReading
from memtree.agents.grounded_values import gathered
from memtree.agents.memory_schema import MemorySchema
from memtree.clock import day_of
from memtree.context.read_histories import MessageCache
from memtree.errors import SummarizerUnavailable
from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree.jobs.model_readers import StructuredModelReader
from memtree.jobs.posted_messages import (
    ROW_BYTES,
    KnownMessage,
    MessageFacts,
    PostedMessages,
    ReadMessages,
    said_on,
)
from memtree.jobs.spending import TOKENS, DailyLimits, MeteredModel, Spending
from memtree.memories.message_extraction import MessagePlace, UserMessage
from memtree.memories.scope import Scope
from memtree.ports.models import ModelAnswer, Usage
from memtree.stores import RamStore
from tests.unit.jobs.test_model_reader import Scripted
from tests.unit.memories.books import HandClock

# ------------------------------------------------------------------------------------------------
# Check what the user said in a posted history: the text, the day, and the place of each message.


ME = Scope.of_user("t")
VOLATILE = Volatile()


def messages(*rows: dict[str, Any]) -> list[Message]:
    return [Message.of(row) for row in rows]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


TALK = messages(
    {"role": "system", "content": "Be kind."},
    user("I live in Rome."),
    assistant("Nice."),
    user("I have two cats."),
    assistant("Sweet."),
    user("I am a baker."),
)


async def found(posted: list[Message], done: ReadMessages | None = None, **more: Any) -> list[Any]:
    done = done or ReadMessages(1)
    whole = PostedMessages("t", posted, VOLATILE, **more)
    return await whole.unread(done, done.keys(ME))


@pytest.mark.parametrize(
    ("names", "speakers"),
    [
        (("Anna", "Ben", None), ["Anna", "Ben", ""]),
        (("Ben", "Ben", None), ["", "", ""]),
        ((None, None, None), ["", "", ""]),
        (("Anna", "¶", 7), ["", "", ""]),
    ],
)
async def test_of_several_people_each_message_has_its_speaker(
    names: Sequence[Any], speakers: list[str]
) -> None:
    rows = [
        {**user(f"{name}: I live in Rome {at}."), "name": name} for at, name in enumerate(names)
    ]
    done = ReadMessages(1)
    unread = await found(messages(*rows), done)
    assert [each.message.speaker for each in unread] == speakers
    for each in unread[:2]:  # the names of known messages count
        done.add(each.key, each.known)
    [last] = await found(messages(*rows), done)
    assert last.message.speaker == speakers[2]


async def test_messages_of_the_user_alone_are_found_oldest_first() -> None:
    rows = await found(TALK)
    assert [(row.index, row.message.text) for row in rows] == [
        (1, "I live in Rome."),
        (3, "I have two cats."),
        (5, "I am a baker."),
    ]
    read = chat_history.read("t", TALK, VOLATILE)
    users = [fact.digest for fact in read.facts if fact.role == "user"]
    assert [row.message.digest for row in rows] == users


async def test_the_text_is_the_view_without_volatile_blocks_and_placeholders() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    posted = messages(
        user("I am a baker.<system-reminder>You hate bread.</system-reminder>"),
        assistant("Yes."),
        user([{"type": "text", "text": "This is me."}, image]),
        assistant("Nice."),
        user([image]),
    )
    rows = await found(posted)
    assert [row.message.text for row in rows] == ["I am a baker.", "This is me.", ""]


async def test_of_a_chat_that_grows_only_what_is_new_is_read() -> None:
    done = ReadMessages(1)
    keys = done.keys(ME)
    for row in await found(TALK, done):
        done.add(row.key, row.known)
    assert await found(TALK, done) == []
    more = [*TALK, *messages(assistant("Good."), user("I like jazz."))]
    [new] = await found(more, done)
    assert (new.index, new.message.text) == (7, "I like jazz.")
    # What others said was put down at once, and is not parsed again.
    assert done.known(keys(TALK[2].raw)) == KnownMessage(by_user=False)
    assert done.known(keys(TALK[1].raw)) == KnownMessage(by_user=True)
    other = done.keys(Scope.of_user("t", "other"))
    assert done.known(other(TALK[1].raw)) is None


async def test_after_a_play_began_the_user_speaks_for_somebody_else_in_later_requests_too() -> None:
    done = ReadMessages(1)
    talk = [*TALK[:3], *messages(user("Let's role-play: I am a king."), assistant("My lord!"))]
    rows = await found(talk, done)
    assert [row.message.fiction for row in rows] == [False, False]  # it is told of itself
    for row in rows:
        done.add(row.key, row.known)
    [later] = await found([*talk, *messages(user("I have forty castles."))], done)
    assert later.message.fiction
    card = messages({"role": "system", "content": "Stay in character."}, user("I am a baker."))
    [played] = await found(card)
    assert played.message.fiction
    tool = {"role": "tool", "tool_call_id": "1", "content": "Let's role-play"}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    [after] = await found(messages(called, tool, user("I am a baker.")))
    assert not after.message.fiction


async def test_what_cannot_be_read_is_left_out_and_the_rest_is_found() -> None:
    broken = [Message(b"{"), Message(b'{"content": "\xff"}'), Message(b"[" * 3_000)]
    posted = [*broken, *messages(user("I live in Rome."))]
    whole = PostedMessages("t", posted, VOLATILE)
    done = ReadMessages(1)
    [row] = await whole.unread(done, done.keys(ME))
    assert row.message.text == "I live in Rome."
    assert await whole.place(row.index) == MessagePlace()  # its history has no address


async def test_the_place_is_the_address_up_to_the_message_and_that_of_the_beginning() -> None:
    long = messages(user(f"I live in Rome. {'The sun shines here. ' * 20}"))
    talk = [TALK[0], *long, *TALK[2:]]
    read = chat_history.read("t", talk, VOLATILE)
    whole = PostedMessages("t", talk, VOLATILE)
    # Messages of the history proper: user, assistant, user, assistant, user.
    assert await whole.place(1) == MessagePlace(read.addresses[1].hex(), "")
    assert await whole.place(3) == MessagePlace(read.addresses[3].hex(), read.addresses[2].hex())
    assert await whole.place(5) == MessagePlace(read.addresses[5].hex(), read.addresses[2].hex())
    branch = PostedMessages("t", [*talk[:3], *messages(user("I have no cats."))], VOLATILE)
    other = await branch.place(3)
    assert other.origin == read.addresses[2].hex()
    assert other.address not in {address.hex() for address in read.addresses}


async def test_a_word_of_the_client_s_program_is_nobody_s_and_moves_no_address() -> None:
    """Not even where the user said the same before."""
    (said,) = messages(user("I have two cats."))
    aside = Message(said.raw, joined=True, aside=True)
    later = messages(assistant("Nice."), user("I like tea."))
    done = ReadMessages(1)
    posted = [said, aside, *later]
    assert [one.index for one in await found(posted, done)] == [0, 3]
    same = [said, said, *later]
    whole, other = (PostedMessages("t", one, VOLATILE) for one in (posted, same))
    assert await whole.place(3) == await other.place(3)
    assert [one.index for one in await found([aside, *later])] == [2]


async def test_what_the_server_knows_of_messages_is_used_and_left_as_it_is() -> None:
    cache = MessageCache(1)
    chat_history.read("t", TALK[:3], VOLATILE, cache)
    own = MessageCache(2)
    whole = PostedMessages("t", TALK, VOLATILE, infos=MessageFacts(cache, own))
    read = chat_history.read("t", TALK, VOLATILE)
    assert (await whole.place(5)).address == read.addresses[-1].hex()
    # What was described here has no tokens, so it must not get into the server's own cache.
    assert cache.get("t", TALK[3].raw) is None
    assert own.get("t", TALK[3].raw)
    assert own.get("t", TALK[1].raw) is None
    known = cache.get("t", TALK[1].raw)
    assert known
    assert known.tokens > 0


async def test_the_last_message_of_each_payload_has_the_day_on_which_it_came() -> None:
    day = 86_400.0
    rows = await found(TALK, ends=[(2, 10 * day), (6, 11 * day)])
    assert [row.message.said for row in rows] == [date(1970, 1, 11), None, date(1970, 1, 12)]


def test_a_request_that_ends_with_an_answer_dates_the_message_before_it() -> None:
    assert said_on([1, 3], [(5, 0.0), (6, 90_000.0)]) == {3: date(1970, 1, 1)}
    assert said_on([4], [(3, 0.0)]) == {}


@pytest.mark.slow
async def test_many_messages_are_read_in_slices_without_losing_one() -> None:
    posted = messages(*(user(f"I own {number} books.") for number in range(500)))
    posted[7] = Message.of(user("x" * 300_000))
    rows = await found(posted)
    assert [row.index for row in rows] == list(range(500))


# ------------------------------------------------------------------------------------------------
# Check which messages were read: by scope, bounded.


def test_keys_differ_by_scope_and_process() -> None:
    done = ReadMessages(1)
    raw = b'{"role":"user","content":"I live in Rome"}'
    keys = {
        done.keys(Scope.of_user("t"))(raw),
        done.keys(Scope.of_user("t", "a"))(raw),
        done.keys(Scope.of_user("u"))(raw),
        ReadMessages(2).keys(Scope.of_user("t"))(raw),
    }
    assert len(keys) == 4
    assert done.keys(Scope.of_user("t"))(raw) in keys


def test_those_that_were_used_least_lately_go_when_it_is_full() -> None:
    done = ReadMessages(1, most=10 * ROW_BYTES)
    for number in range(11):
        done.add(b"%d" % number, KnownMessage(by_user=True))
    known = [number for number in range(11) if done.known(b"%d" % number)]
    assert known == list(range(1, 11))
    assert done.nbytes == 10 * ROW_BYTES


# ------------------------------------------------------------------------------------------------
# A model fills schemas: what it is asked, and what of its answer is believed.


AGENT_SCOPE = Scope.of_agent("t", "a")
TEXT = {"type": "string"}
KEY = "sk-proj-" + "aB3dE5gH7jK9" * 4
PROFILE = MemorySchema(
    "UserProfile",
    json.dumps({"properties": {"name": TEXT, "pet": TEXT, "age": {"type": "integer"}}}),
    ("kind",),
)
SEAT = {"type": "string", "enum": ["window", "aisle"]}
TRAVEL = MemorySchema("TravelPreference", json.dumps({"properties": {"seat": SEAT}}), ("kind",))
TASK = MemorySchema("Task", json.dumps({"properties": {"title": TEXT}, "required": ["title"]}))


def record(message: str, quote: str, kind: str = "UserProfile", **values: str) -> dict[str, Any]:
    rows = [{"field": name, "value": value} for name, value in values.items()]
    return {"message": message, "quote": quote, "kind": kind, "values": rows}


def said(*records: dict[str, Any]) -> str:
    return json.dumps({"records": list(records)})


class Counted:
    def __init__(self, model: Scripted, limits: DailyLimits | None = None) -> None:
        self.store, self.clock = RamStore(), HandClock()
        spending = Spending(self.store, self.clock, limits=limits or DailyLimits())
        self.metered = MeteredModel(model, spending)
        self.reader = StructuredModelReader(self.metered)

    async def read(
        self, *texts: str, schemas: Sequence[MemorySchema] = (PROFILE, TASK)
    ) -> Sequence[StructuredReading]:
        messages = [UserMessage(text.encode(), text, date(2026, 3, 4)) for text in texts]
        return await self.reader.read(AGENT_SCOPE, messages, schemas)


def data(rows: Sequence[StructuredReading]) -> list[Any]:
    found = [(at, each) for at, row in enumerate(rows) for each in row.findings]
    return [dict(one.data) for one in gathered(found, (PROFILE, TASK, TRAVEL))]


def reasons(row: StructuredReading) -> list[str]:
    return [str(skip.reason) for skip in row.skipped]


async def test_records_of_several_sentences() -> None:
    text = "My name is Bo. Rex, my old dog, sleeps all day. I finally turned forty."
    answer = said(
        record("1", "I finally turned forty", age="40"),
        record("1", "My name is Bo", name="Bo"),
        record("1", "Rex, my old dog, sleeps all day", pet="Rex"),
    )
    [row] = await Counted(Scripted(answer)).read(text, schemas=[PROFILE])
    assert data([row]) == [{"name": "Bo", "pet": "Rex", "age": 40}]
    first = row.findings[0]
    assert text[first.start : first.end] == "My name is Bo"


async def test_a_thing_is_a_memory_of_its_own() -> None:
    text = "Somebody ought to phone the bank. Remind me to call Ann."
    answer = said(
        record("1", "Somebody ought to phone the bank", "Task", title="phone the bank"),
        record("1", "Remind me to call Ann", "Task", title="call Ann"),
    )
    rows = await Counted(Scripted(answer)).read(text)
    assert data(rows) == [{"title": "phone the bank"}, {"title": "call Ann"}]


async def test_a_record_that_names_no_message_is_of_the_one_that_says_it() -> None:
    answer = said(record("", "My name is Bo", name="Bo"))
    rows = await Counted(Scripted(answer)).read("I play chess.", "My name is Bo.")
    assert [len(row.findings) for row in rows] == [0, 1]


async def test_what_is_not_grounded_is_told() -> None:
    answer = said(
        record("1", "I play chess", age="40"), record("1", "My name is Bo", name="Bo", pet="Rex")
    )
    [row] = await Counted(Scripted(answer)).read("I play chess. My name is Bo.")
    assert [(skip.text, skip.reason) for skip in row.skipped] == [
        ("I play chess", "not_grounded"),
        ("Rex", "not_grounded"),
    ]
    assert data([row]) == [{"name": "Bo"}]


async def test_a_secret_is_shown_to_nobody() -> None:
    model = Scripted(said(record("1", f"My key is {KEY}", name=KEY)))
    [row] = await Counted(model).read(f"I play chess. My key is {KEY}.")
    assert [(skip.shown, skip.reason) for skip in row.skipped] == [
        ("", "secret"),
        ("My key is [secret]", "not_grounded"),
    ]
    assert KEY not in str(model.asked)


async def test_a_message_gives_so_many_records() -> None:
    titles = [f"call number {n}" for n in range(10)]
    text = " ".join(f"I have to {title}." for title in titles)
    answer = said(*(record("1", f"I have to {title}", "Task", title=title) for title in titles))
    [row] = await Counted(Scripted(answer)).read(text)
    assert (len(row.findings), reasons(row)) == (8, ["cap", "cap"])


async def test_what_the_model_is_shown() -> None:
    model = Scripted(said())
    await Counted(model).read(f"I play chess. My key is {KEY}.\n\n```\nsecret code\n```\n> quoted")
    [question] = model.asked
    shown = question.messages[1]["content"]
    assert "I play chess." in shown
    for hidden in (KEY, "secret code", "quoted"):
        assert hidden not in shown
    assert "UserProfile: name (text); pet (text); age (whole number)" in shown


async def test_a_message_without_own_words_costs_nothing() -> None:
    model = Scripted()
    rows = await Counted(model).read("```\ncode\n```", "Let's role-play: I'm Bo, you are Ann.")
    assert (data(rows), [row.done for row in rows]) == ([], [True, True])
    assert reasons(rows[1]) == ["fiction"]
    assert not model.asked


async def test_a_model_that_is_down_is_asked_again_later() -> None:
    with pytest.raises(SummarizerUnavailable):
        await Counted(Scripted(SummarizerUnavailable("down"))).read("I play chess.")


async def test_a_limit_of_the_day_leaves_messages_undone() -> None:
    counted = Counted(Scripted(), DailyLimits(tokens=10))
    assert await counted.read("I play chess.") == []
    assert counted.metered.totals.calls["limited"] == 1


async def test_calls_are_counted() -> None:
    counted = Counted(Scripted(said()))
    await counted.read("I play chess.")
    day = day_of(counted.clock.now())
    assert (await counted.store.tallies("t", day, day))[TOKENS] == 120


async def test_an_answer_nobody_can_read_is_asked_for_again_message_by_message() -> None:
    model = Scripted(
        "sorry", said(record("1", "I'm turning forty", age="40")), ModelAnswer("no", True, Usage())
    )
    rows = await Counted(model).read("I'm turning forty tomorrow.", "My name is Bo.")
    assert len(model.asked) == 3
    assert data(rows) == [{"age": 40}]
    assert "no_answer" in reasons(rows[1])
    assert [row.done for row in rows] == [True, False]


async def test_what_a_sentence_takes_back_is_not_what_it_says() -> None:
    for value, wanted in (("window", [{"seat": "window"}]), ("aisle", [])):
        text = "Actually I prefer window seats, not aisle."
        model = Scripted(said(record("1", text, "TravelPreference", seat=value)))
        assert data(await Counted(model).read(text, schemas=[TRAVEL])) == wanted


async def test_kinds_that_nobody_can_fill_are_not_asked_for() -> None:
    hard = MemorySchema("Odd", json.dumps({"properties": {"a": {"const": 1}}, "required": ["a"]}))
    model = Scripted()
    [row] = await Counted(model).read("My name is Bo.", schemas=[hard])
    assert (data([row]), reasons(row), row.done) == ([], ["no_schema"], False)
    assert not model.asked
