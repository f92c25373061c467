"""Check what becomes of what was found in an agent's messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from memtree.agents.agent_extraction import ATTEMPTS, READS
from memtree.agents.agent_memory import StructuredWrite
from memtree.agents.agent_messages import (
    AgentMessage,
    StructuredReading,
    batches,
    message_key,
    told_by_user,
)
from memtree.agents.grounded_values import Finding, gathered, lacking, merged, same_data
from memtree.agents.memory_schema import MemorySchema
from memtree.errors import Conflict
from memtree.memories.memory import MemoryChange
from memtree.memories.message_extraction import UserMessage
from memtree.memories.scope import Scope
from memtree.ports.models import Matrix
from tests.contracts.memory_backends import new
from tests.fakes import HashingEmbedder
from tests.unit.agents.test_agent_extraction import ME, Agents, reasons, rows
from tests.unit.memories.books import Opened, opened

# ------------------------------------------------------------------------------------------------
# Check what becomes of what was found: joined with what is planned and what is stored, nothing
# lost.


@pytest.fixture
async def agents() -> AsyncIterator[Agents]:
    async with opened(HashingEmbedder()) as whole:
        yield Agents(whole)


def profile(**data: Any) -> Finding:
    """Found in the first letters of a message."""
    values = tuple(((name,), value) for name, value in data.items())
    return Finding("UserProfile", values, 0, 3, 0.8)


class Finds:
    """A reader that finds in each message what it was told."""

    mode = "model"

    def __init__(self, *findings: Sequence[Finding]) -> None:
        self.findings = list(findings)

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        return [StructuredReading(one, tuple(self.findings.pop(0))) for one in messages]


async def test_two_candidates_for_the_place_of_one_memory_lose_no_field(agents: Agents) -> None:
    """One names it, the other one means it because it is the only one of its kind."""
    finds = Finds([profile(name="Alice", age=30), profile(city="Graz")])
    both = Agents(agents.whole, structured=finds)
    await both.profile("name")
    await agents.say("My name is Alice.")
    report = await both.say("m2: Alice, that is me, is 30. I live in Graz.")
    assert len(report.updated) == 1
    assert await both.data() == [{"name": "Alice", "age": 30, "city": "Graz"}]


async def test_with_the_data_of_a_memory_its_tags_expiry_and_doubts_are_kept(
    agents: Agents,
) -> None:
    await agents.profile("kind")
    end = agents.whole.clock.now() + 60
    first = (await agents.say("My name is Alice.")).created[0].memory
    change = MemoryChange(
        agents.whole.clock.now(), tags=("vip",), expires=end, confidence=0.5, tainted=True
    )
    await agents.store.change(ME, first.id, change)
    later = (await agents.say("I live in Graz.")).updated[0].memory
    assert later.data == {"name": "Alice", "city": "Graz"}
    assert (later.tags, later.expires) == (("vip",), end)
    assert (later.confidence, later.tainted) == (0.5, True)
    named = (await agents.say("I'm 30.", expires=end + 60)).updated[0].memory
    assert (named.tags, named.expires) == (("vip",), end + 60)


async def test_of_two_candidates_for_one_memory_the_less_sure_one_counts(agents: Agents) -> None:
    sure = replace(profile(name="Alice", age=30), confidence=0.6)
    both = Agents(agents.whole, structured=Finds([sure, profile(name="Alice", city="Graz")]))
    await both.profile("name")
    [row] = (await both.say("Alice, that is me, is 30. I live in Graz.")).created
    assert row.memory.data == {"name": "Alice", "age": 30, "city": "Graz"}
    assert row.memory.confidence == 0.6


class Calls(HashingEmbedder):
    """It notes what each call is for, and whether the scope could be written meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.whole: Opened | None = None
        self.calls: list[tuple[list[str], bool]] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        assert self.whole
        if texts:
            self.calls.append((list(texts), self.whole.book.saving.turn(ME).locked()))
        return await super().embed(texts)

    async def embed_query(self, text: str) -> Matrix:
        return (await self.embed([text]))[0]


async def test_sentences_are_embedded_in_one_call_before_the_turn_is_taken() -> None:
    calls = Calls()
    async with opened(calls) as whole:
        calls.whole = whole
        report = await Agents(whole).say(
            "m1: I'm allergic to nuts.",
            "m2: I live in Graz.",
            "m3: I'm allergic to nuts!",
            "m4: My wifi password is hunter2secret99.",
        )
        texts = [row.memory.text for row in report.created]
        assert len(texts) == 2
        assert calls.calls == [(texts, False)]
        assert not await whole.book.saving.waits(ME)


def before_the_write(agents: Agents, *works: Callable[[], Awaitable[object]]) -> list[object]:
    """Somebody does these between a look at what is there and the write, one each time. What has
    been done."""
    planner, plan = agents.extraction.planner, agents.extraction.planner.plan
    waiting, done = list(works), list[object]()

    async def late(*args: Any) -> Any:
        made = await plan(*args)
        if waiting:
            done.append(await waiting.pop(0)())
        return made

    object.__setattr__(planner, "plan", late)
    return done


async def test_a_change_between_look_and_write_is_not_overwritten(agents: Agents) -> None:
    await agents.profile("kind")
    first = (await agents.say("m1: My name is Alice. I like tea.")).created[0].memory
    data = {"name": "Alicia", "theme": "dark"}
    change = MemoryChange(agents.whole.clock.now(), data=data, tags=("mine",))
    done = before_the_write(agents, lambda: agents.store.change(ME, first.id, change))
    [result] = (await agents.say("m2: I live in Graz.")).updated
    assert done
    assert result.memory.data == {**data, "city": "Graz"}
    assert (result.memory.tags, result.superseded) == (("mine",), first.id)


async def test_a_memory_that_comes_between_look_and_write_is_not_overwritten(
    agents: Agents,
) -> None:
    await agents.profile("kind")
    made = new("theirs", kind="UserProfile", data={"name": "Alice"}, id="mem_theirs")
    put = StructuredWrite(made)
    done = before_the_write(agents, lambda: agents.store.write(ME, [put]))
    assert (await agents.say("m1: I live in Graz.")).created == ()
    assert done
    assert await agents.data() == [{"name": "Alice", "city": "Graz"}]


async def test_what_others_change_each_time_is_a_conflict_and_stays_undone(
    agents: Agents,
) -> None:
    await agents.profile("kind")
    first = (await agents.say("m1: My name is Alice.")).created[0].memory

    def change(number: int) -> Callable[[], Awaitable[object]]:
        tags = MemoryChange(agents.whole.clock.now(), tags=(f"{number}",))
        return lambda: agents.store.change(ME, first.id, tags)

    before_the_write(agents, *(change(number) for number in range(ATTEMPTS)))
    with pytest.raises(Conflict):
        await agents.say("m2: I live in Graz.")
    assert await agents.data() == [{"name": "Alice"}]
    assert len((await agents.say("m2: I live in Graz.")).updated) == 1


@pytest.mark.slow
async def test_the_memory_with_its_unique_values_is_found_among_many(agents: Agents) -> None:
    """However many newer ones of its kind there are."""
    await agents.profile("name")
    await agents.say("My name is Alice. I like tea.")
    rows = [
        new("one", kind="UserProfile", data={"name": f"{n}"}, id=f"mem_{n}") for n in range(1_001)
    ]
    await agents.store.write(ME, [StructuredWrite(row) for row in rows])
    [result] = (await agents.say("My name is Alice. I live in Graz.")).updated
    assert result.memory.data == {"name": "Alice", "likes": ["tea"], "city": "Graz"}


async def test_a_memory_that_is_left_for_the_next_request_loses_no_message(agents: Agents) -> None:
    limited = Agents(agents.whole, per_call=1)
    await limited.tasks()
    await limited.profile("kind")
    said = ("m1: Remind me to run.", "m2: My name is Bo. I like tea.", "m3: I'm 30.")
    first = await limited.say(*said)
    assert (len(first.created), first.messages) == (1, 1)
    [result] = (await limited.say(*said)).created
    assert result.memory.data == {"name": "Bo", "likes": ["tea"], "age": 30}


@pytest.mark.slow
async def test_what_is_required_may_be_said_in_another_request(agents: Agents) -> None:
    await agents.profile("kind", required=["name", "age"])
    said = ["m1: My name is Bo.", "m2: I'm 30.", "m3: I live in Graz."]
    assert reasons(await agents.say(said[0])) == [("My name is Bo", "incomplete")]
    [result] = (await agents.say(*said[:2])).created
    assert result.memory.data == {"name": "Bo", "age": 30}
    assert rows((await agents.say(*said)).updated)[0][1]["city"] == "Graz"
    assert agents.reader.read_texts == ["My name is Bo."] * 2 + ["I'm 30.", "I live in Graz."]
    await agents.store.delete(ME, [row.id for row in (await agents.store.page(ME)).memories])
    assert (await agents.say(*said)).messages == 0  # what was deleted does not come back


async def test_a_message_whose_rest_never_comes_is_not_read_for_ever(agents: Agents) -> None:
    await agents.profile("kind", required=["name", "age"])
    reports = [await agents.say("m1: My name is Bo.") for _ in range(READS + 2)]
    assert [each.messages for each in reports] == [1] * READS + [0, 0]
    assert (await agents.say("m1: My name is Bo.", "m2: I'm 30.")).created == ()
    assert (await agents.say("m1: My name is Bo.", "m2: I'm 30.", force=True)).created != ()


async def test_a_message_that_says_anything_else_is_done(agents: Agents) -> None:
    """A deleted memory of it does not come back for the sake of the rest."""
    await agents.profile("kind", required=["name", "age"])
    await agents.tasks()
    assert len((await agents.say("m1: My name is Bo. Remind me to run.")).created) == 1
    assert (await agents.say("m1: My name is Bo. Remind me to run.")).messages == 0


async def strict_profile(agents: Agents, *required: str) -> None:
    fields = {
        "name": {"type": "string", "maxLength": 4},
        "age": {"type": "integer", "maximum": 120},
        "city": {"type": "string", "pattern": "^[A-Z]"},
        "likes": {"type": "array", "items": {"type": "string", "maxLength": 4}},
    }
    document = {"properties": fields, "required": list(required)}
    await agents.schemas.put("t", "UserProfile", document, ["name"])


async def test_a_field_that_the_schema_refuses_takes_no_other_with_it(agents: Agents) -> None:
    finds = Finds(
        [profile(name="Bo", age=300, city="graz", likes=["tea"])],
        [profile(age=30, likes=["lemonade"])],
        [profile(age=301)],
    )
    model = Agents(agents.whole, structured=finds)
    await strict_profile(model)
    first = await model.say("m1: Bo, 300.")
    assert rows(first.created) == [("UserProfile", {"name": "Bo", "likes": ["tea"]})]
    assert sorted(reasons(first)) == [("300", "invalid"), ("graz", "invalid")]
    # What was known stays, also in the place of the refused value.
    later = await model.say("m2: I'm 30.")
    assert rows(later.updated)[0][1] == {"name": "Bo", "likes": ["tea"], "age": 30}
    assert (await model.say("m3: I'm 301.")).updated == ()


async def test_a_refused_field_that_tells_which_memory_it_is_leaves_all_out(
    agents: Agents,
) -> None:
    finds = Finds([profile(name="Bo")], [profile(name="Alexander", age=30)])
    model = Agents(agents.whole, structured=finds)
    await strict_profile(model)
    await model.say("m1: I'm Bo.")
    assert reasons(await model.say("m2: Alexander, 30.")) == [("Ale", "invalid")]
    assert await model.data() == [{"name": "Bo"}]


async def test_a_required_field_that_is_refused_leaves_all_out(agents: Agents) -> None:
    model = Agents(agents.whole, structured=Finds([profile(name="Bo", age=300)]))
    await strict_profile(model, "age")
    assert [reason for _, reason in reasons(await model.say("m1: Bo, 300."))] == ["invalid"]
    assert await model.data() == []


async def test_a_fact_that_contradicts_another_of_its_kind_is_kept_as_what_may_replace_it(
    agents: Agents,
) -> None:
    finds = Finds([profile(city="Graz")], [profile(city="Vienna")])
    both = Agents(agents.whole, structured=finds)
    await both.profile()
    [old] = (await both.say("I live in Graz.")).created
    [new] = (await both.say("Vienna now.")).created
    [update] = new.memory.updates
    assert (update.id, update.differs) == (old.memory.id, ("Graz -> Vienna",))


async def test_a_message_whose_answer_nobody_could_read_is_read_again(agents: Agents) -> None:
    class Unanswered(Finds):
        async def read(self, scope, messages, schemas):
            rows = await super().read(scope, messages, schemas)
            return [replace(row, done=False) for row in rows]

    unanswered = Agents(agents.whole, structured=Unanswered([profile(name="Bo")]))
    await unanswered.profile("name")
    await unanswered.say("I'm Bo, and forty.")
    answered = Agents(agents.whole, structured=Finds([profile(name="Bo", age=40)]))
    assert len((await answered.say("I'm Bo, and forty.")).updated) == 1
    assert await answered.data() == [{"name": "Bo", "age": 40}]


# ------------------------------------------------------------------------------------------------
# Agent messages.


TODAY = date(2026, 3, 2)


def test_only_what_the_user_says_each_once() -> None:
    told = told_by_user(
        [
            AgentMessage("human", "I live in Graz", "m1"),
            AgentMessage("ai", "My name is Bot", "m2"),
            AgentMessage("system", "You are a bot"),
            AgentMessage("user", "I live in Graz, said again", "m1"),
            AgentMessage("user", " ", "m3"),
            AgentMessage("user", "My name is Bo"),
        ],
        "t1",
        TODAY,
    )
    assert [(one.id, one.read.text, one.read.said) for one in told] == [
        ("m1", "I live in Graz", None),
        ("", "My name is Bo", TODAY),
    ]


def test_after_a_play_began_the_user_speaks_for_somebody_else() -> None:
    told = told_by_user(
        [AgentMessage("user", "Let's roleplay"), AgentMessage("user", "I'm Bo")], "", TODAY
    )
    assert [one.read.fiction for one in told] == [False, True]


def test_what_a_message_is_known_by() -> None:
    one = AgentMessage("user", "hi", "m1")
    assert message_key(one, "t1") == message_key(AgentMessage("user", "other", "m1"), "t1")
    assert message_key(one, "t1") != message_key(one, "t2")
    bare = AgentMessage("user", "m1")
    assert message_key(bare, "t1") == message_key(bare, "t2") != message_key(one, "t1")
    assert len(message_key(AgentMessage("user", "\ud800"))) == 32


def test_batches_by_number_and_by_size() -> None:
    told = told_by_user([AgentMessage("user", f"text {n}") for n in range(5)], "", TODAY)
    assert [len(batch) for batch in batches(told, (2, 1_000))] == [2, 2, 1]
    assert [len(batch) for batch in batches(told, (9, 12))] == [2, 2, 1]
    assert [len(batch) for batch in batches(told, (9, 1))] == [1] * 5


# ------------------------------------------------------------------------------------------------
# Merging.


DOCUMENT = json.dumps({"properties": {"name": {"type": "string"}}})


def finding(kind: str, **values: Any) -> Finding:
    return Finding(kind, tuple(((name,), value) for name, value in values.items()), 0, 1, 0.9)


def kept(*findings: Finding, **unique_on: str) -> list[tuple[str, Any, int]]:
    """Each in a message of its own."""
    kinds = {each.kind for each in findings}
    schemas = [
        MemorySchema(kind, DOCUMENT, tuple(unique_on.get(kind, "").split())) for kind in kinds
    ]
    rows = gathered(list(enumerate(findings)), schemas)
    return [(row.kind, dict(row.data), row.message) for row in rows]


def test_what_is_said_of_a_profile_is_one_memory() -> None:
    assert kept(
        finding("UserProfile", name="Bo", likes=["tea"]),
        finding("Task", title="call"),
        finding("UserProfile", city="Graz", likes=["cake"]),
        finding("Task", due="2026-03-05"),
    ) == [
        ("UserProfile", {"name": "Bo", "likes": ["tea", "cake"], "city": "Graz"}, 2),
        ("Task", {"title": "call"}, 1),
        ("Task", {"due": "2026-03-05"}, 3),
    ]


def test_what_a_scope_has_one_of_is_one_memory_and_a_later_mention_wins() -> None:
    said = (finding("Settings", theme="dark"), finding("Settings", theme="light", size=2))
    assert kept(*said, Settings="kind") == [("Settings", {"theme": "light", "size": 2}, 1)]


def test_who_has_another_name_is_somebody_else() -> None:
    said = (
        finding("UserProfile", name="Bo", color="blue"),
        finding("UserProfile", color="green"),
        finding("UserProfile", name="Ann"),
    )
    assert kept(*said, UserProfile="name") == [
        ("UserProfile", {"name": "Bo", "color": "green"}, 1),
        ("UserProfile", {"name": "Ann"}, 2),
    ]


def test_without_unique_fields_nothing_is_lost_to_a_contradiction() -> None:
    said = (
        finding("UserPreference", topic="tea", value={"how": "hot"}),
        finding("UserPreference", value={"when": "noon"}),
        finding("UserPreference", value={"how": "cold"}),
    )
    assert kept(*said) == [
        ("UserPreference", {"topic": "tea", "value": {"how": "hot", "when": "noon"}}, 1),
        ("UserPreference", {"value": {"how": "cold"}}, 2),
    ]


def test_a_field_of_an_object_is_put_into_it() -> None:
    made = Finding("A", ((("address", "city"), "Graz"), (("address", "zip"), "1")), 0, 1, 0.9)
    assert kept(made) == [("A", {"address": {"city": "Graz", "zip": "1"}}, 0)]


def test_lists_grow_and_objects_join() -> None:
    old = {"likes": ["Tea"], "address": {"city": "Graz"}, "age": 1}
    new = {"likes": ["tea", "cake"], "address": {"zip": "1"}, "age": 2}
    assert merged(old, new) == {
        "likes": ["Tea", "cake"],
        "address": {"city": "Graz", "zip": "1"},
        "age": 2,
    }
    assert old["likes"] == ["Tea"]


def test_order_of_fields_means_nothing() -> None:
    assert same_data({"a": 1, "b": [1]}, {"b": [1], "a": 1})
    assert not same_data({"a": 1}, {"a": True})
    assert lacking({"a": 1}, ["b", "a"]) == ["b"]
