"""Memories of an agent out of a posted conversation: each message once, each memory once, joined
with what the scope knows, and a reason for what is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from memtree.agents.agent_extraction import AgentExtraction, AgentExtractionReport, AgentMessage
from memtree.agents.agent_memory import StructuredResult
from memtree.agents.agent_messages import ConversationReaders, StructuredReading
from memtree.agents.extraction_plan import ExtractionPlanner
from memtree.agents.grounded_values import Finding
from memtree.agents.memory_schema import MemorySchema
from memtree.agents.schema_book import SchemaBook
from memtree.errors import (
    Conflict,
    MemoryLimit,
    ModelNeeded,
    SchemaViolation,
    StoreUnavailable,
    SummarizerUnavailable,
    UpstreamFailed,
    UpstreamTimeout,
)
from memtree.jobs.model_readers import StructuredModelReader
from memtree.memories.message_extraction import RuleReader, UserMessage
from memtree.memories.rule_extraction import extract
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.spoken_model import SpokenModel
from tests.unit.memories.books import Opened, opened

ME = Scope.of_agent("t", "agent-007", "bo")
TEXT = {"type": "string"}


class Read(StructuredModelReader):
    """It notes the messages that it reads, and does what a test wants before it answers."""

    def __init__(self) -> None:
        super().__init__(SpokenModel())
        self.read_texts: list[str] = []
        self.meanwhile: list[Any] = []

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        self.read_texts += [one.text for one in messages]
        found = await super().read(scope, messages, schemas)
        for work in self.meanwhile:
            await work()
        return found


class Agents:
    """The use case over a store in RAM."""

    def __init__(self, whole: Opened, **more: Any) -> None:
        self.whole, self.store = whole, whole.store
        self.schemas = SchemaBook(whole.store, whole.clock)
        self.reader = Read()
        planner = ExtractionPlanner(
            whole.store,
            self.schemas,
            whole.book.saving,
            whole.clock,
            lambda: f"mem_{next(whole.ids):024x}",
        )
        structured = more.pop("structured", self.reader)
        self.readers = ConversationReaders(RuleReader(extract), structured)
        self.extraction = AgentExtraction(planner, **more)

    async def profile(self, *unique_on: str, required: Sequence[str] = ()) -> None:
        fields = {
            "name": TEXT,
            "age": {"type": "integer"},
            "city": TEXT,
            "favoriteColor": TEXT,
            "likes": {"type": "array", "items": TEXT},
            "theme": {"enum": ["dark", "light"]},
        }
        document = {"type": "object", "properties": fields, "required": list(required)}
        await self.schemas.put("t", "UserProfile", document, unique_on)

    async def tasks(self) -> None:
        document = {"properties": {"title": TEXT}, "required": ["title"]}
        await self.schemas.put("t", "Task", document)

    async def say(self, *texts: str, scope: Scope = ME, **more: Any) -> AgentExtractionReport:
        """Each text with its own id where it begins with `id:`."""
        messages = []
        for text in texts:
            id_, mark, rest = text.partition(": ")
            messages.append(AgentMessage("user", rest, id_) if mark else AgentMessage("user", text))
        return await self.extraction.extract(scope, messages, self.readers, **more)

    async def data(self, scope: Scope = ME) -> list[Any]:
        return [row.data for row in (await self.store.page(scope)).memories]


@pytest.fixture
async def agents() -> AsyncIterator[Agents]:
    async with opened(HashingEmbedder()) as whole:
        yield Agents(whole)


def rows(results: Sequence[StructuredResult]) -> list[tuple[str, Any]]:
    return [(one.memory.kind, one.memory.data) for one in results]


def reasons(report: AgentExtractionReport) -> list[tuple[str, str]]:
    return [(skip.text, str(skip.reason)) for skip in report.skipped]


# -- sentences, where the tenant has no schema ----------------------------------------------------


async def test_sentences_without_schemas(agents: Agents) -> None:
    report = await agents.say("m1: My name is Alice and I live in Seattle. Is it raining?")
    assert rows(report.created) == [
        ("UserProfile", {"name": "Alice"}),
        ("fact", {"text": "User lives in Seattle"}),
    ]
    [memory] = await agents.store.get(ME, [report.created[1].memory.id])
    assert (memory.source_type, memory.capture_mode, memory.category) == (
        "extraction",
        "rule",
        "fact",
    )
    assert memory.source
    assert memory.source.message == "m1"
    assert 0.5 < memory.confidence < 1
    assert ("Is it raining?", "question") in reasons(report)


async def test_a_field_that_is_called_by_its_name_is_data(agents: Agents) -> None:
    """The example of the source service's documentation, for a tenant without schemas."""
    report = await agents.say("m1: My favorite color is blue.")
    assert rows(report.created) == [("UserProfile", {"favoriteColor": "blue"})]
    again = await agents.say("m2: My favorite color is blue!")
    assert (again.created, [reason for _, reason in reasons(again)]) == ((), ["duplicate"])
    [changed] = (await agents.say("m3: My favorite color is green.")).created
    assert [update.id for update in changed.memory.updates] == [report.created[0].memory.id]


async def test_schemas_need_a_model(agents: Agents) -> None:
    alone = Agents(agents.whole, structured=None)
    assert len((await alone.say("m1: I'm allergic to nuts.")).created) == 1
    await alone.tasks()
    with pytest.raises(ModelNeeded, match=r"`model`.*`summary_model`.*`memories`") as error:
        await alone.say("m2: Remind me to run.")
    assert (error.value.status, error.value.param) == (422, "model")
    assert len((await agents.say("m2: Remind me to run.")).created) == 1  # it was not done


async def test_a_duplicate_sentence_is_stored_once(agents: Agents) -> None:
    assert len((await agents.say("m1: I'm allergic to nuts.")).created) == 1
    again = await agents.say("m2: I'm allergic to nuts!")
    assert (again.created, reasons(again)) == ((), [("I'm allergic to nuts!", "duplicate")])


async def test_when_it_happens_is_known_where_one_day_is_named(agents: Agents) -> None:
    report = await agents.say("My dentist appointment is on March 15, 2026. I'm allergic to nuts.")
    assert [one.memory.happened for one in report.created] == [1_773_532_800.0, None]


# -- with schemas ---------------------------------------------------------------------------------


async def test_several_messages_fill_one_memory_in_one_write(agents: Agents) -> None:
    await agents.profile("kind")
    report = await agents.say("m1: My name is Alice.", "m2: ok", "m3: I'm 30 and live in Graz.")
    assert rows(report.created) == [("UserProfile", {"name": "Alice", "age": 30, "city": "Graz"})]
    [memory] = (await agents.store.page(ME)).memories
    assert memory.version == 1
    assert memory.source
    assert (memory.source.message, memory.supersedes) == ("m3", None)


async def test_what_nobody_mentions_is_kept_when_a_memory_is_superseded(agents: Agents) -> None:
    await agents.profile("kind", required=["name"])
    await agents.say("My name is Alice. I like tea.")
    report = await agents.say("My favorite color is blue. I like cake.")
    [result] = report.updated
    assert result.superseded
    assert await agents.data() == [
        {"name": "Alice", "likes": ["tea", "cake"], "favoriteColor": "blue"}
    ]
    later = await agents.say("My favorite color is green now.")
    assert rows(later.updated)[0][1]["favoriteColor"] == "green"
    assert len(await agents.data()) == 1


async def test_a_profile_that_is_told_apart_by_name(agents: Agents) -> None:
    await agents.profile("name")
    await agents.say("My name is Alice.")
    await agents.say("I'm 30.")
    assert await agents.data() == [{"name": "Alice", "age": 30}]
    await agents.say("My name is Bob.")
    assert await agents.data() == [{"name": "Bob"}, {"name": "Alice", "age": 30}]


async def test_one_conversation_tells_of_the_same_thing_twice(agents: Agents) -> None:
    await agents.profile("name")
    document = {"properties": {"name": TEXT, "species": TEXT}, "required": ["name"]}
    await agents.schemas.put("t", "Pet", document, ["name"])
    report = await agents.say(
        "My dog is called Rex.", "We have a cat named Tom, my dog's name is Rex"
    )
    assert rows(report.created) == [
        ("Pet", {"name": "Rex", "species": "dog"}),
        ("Pet", {"name": "Tom", "species": "cat"}),
    ]


async def test_what_lacks_a_field_or_breaks_the_schema_is_left_out(agents: Agents) -> None:
    await agents.profile("kind", required=["name"])
    assert reasons(await agents.say("I live in Graz.")) == [("live in Graz", "incomplete")]
    document = {"properties": {"name": {"type": "string", "maxLength": 2}}}
    await agents.schemas.put("t", "UserProfile", document)
    assert reasons(await agents.say("My name is Alice.")) == [("My name is Alice", "invalid")]
    assert await agents.data() == []


async def test_only_the_schemas_that_are_named(agents: Agents) -> None:
    await agents.profile()
    await agents.tasks()
    text = "My name is Bo. Remind me to call Ann."
    report = await agents.say(text, schemas=["Task"])
    assert rows(report.created) == [("Task", {"title": "call Ann"})]
    with pytest.raises(SchemaViolation, match=r"schemas\[1\].*nearest is Task") as error:
        await agents.say(text, schemas=["Task", "Tasks"])
    assert error.value.param == "schemas[1]"


async def test_what_is_there_is_not_stored_twice(agents: Agents) -> None:
    await agents.tasks()
    await agents.say("m1: Remind me to call Ann.")
    again = await agents.say("m2: Please remind me to call Ann.")
    assert (again.created, again.updated) == ((), ())
    assert [reason for _, reason in reasons(again)] == ["duplicate"]


async def test_secrets_are_left_out(agents: Agents) -> None:
    await agents.profile()
    report = await agents.say(
        "My favorite color is sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCD."
    )
    assert [reason for _, reason in reasons(report)] == ["secret"]


async def test_thread_and_expiry_are_those_of_the_request(agents: Agents) -> None:
    await agents.tasks()
    end = agents.whole.clock.now() + 60
    report = await agents.say("Remind me to call Ann.", thread="t1", expires=end)
    memory = report.created[0].memory
    assert (memory.thread_id, memory.expires) == ("t1", end)
    over = await agents.say("Remind me to buy milk.", expires=agents.whole.clock.now())
    assert [reason for _, reason in reasons(over)] == ["expired"]


# -- once -----------------------------------------------------------------------------------------


async def test_each_message_is_read_once(agents: Agents) -> None:
    await agents.tasks()
    await agents.say("m1: Remind me to call Ann.", "Remind me to buy milk.")
    report = await agents.say(
        "m1: Remind me to call Ann.", "Remind me to buy milk.", "m2: Remind me to run."
    )
    assert rows(report.created) == [("Task", {"title": "run"})]
    assert agents.reader.read_texts == [
        "Remind me to call Ann.",
        "Remind me to buy milk.",
        "Remind me to run.",
    ]


async def test_an_id_counts_in_its_thread_and_its_scope(agents: Agents) -> None:
    await agents.tasks()
    await agents.say("m1: Remind me to call Ann.", thread="a")
    other = await agents.say("m1: Remind me to buy milk.", thread="b")
    assert len(other.created) == 1
    elsewhere = Scope.of_agent("t", "agent-007", "ann")
    assert (
        len((await agents.say("m1: Remind me to run.", thread="a", scope=elsewhere)).created) == 1
    )


async def test_a_deleted_memory_comes_back_by_force_alone(agents: Agents) -> None:
    await agents.tasks()
    said = "m1: Remind me to call Ann."
    first = await agents.say(said)
    await agents.store.delete(ME, [first.created[0].memory.id])
    assert (await agents.say(said)).created == ()
    assert await agents.data() == []
    assert rows((await agents.say(said, force=True)).created) == [("Task", {"title": "call Ann"})]
    assert (await agents.say(said, force=True)).created == ()  # it is there
    assert len(await agents.data()) == 1


async def test_only_users_are_read(agents: Agents) -> None:
    await agents.tasks()
    report = await agents.extraction.extract(
        ME,
        [
            AgentMessage("assistant", "Remind me to call Ann."),
            AgentMessage("ai", "Remind me to buy milk."),
            AgentMessage("system", "Remind me to sleep."),
            AgentMessage("human", "Remind me to run."),
        ],
        agents.readers,
    )
    assert rows(report.created) == [("Task", {"title": "run"})]
    assert report.messages == 1


@pytest.mark.slow
async def test_two_at_once_store_it_once(agents: Agents) -> None:
    await agents.tasks()
    said = [f"m{n}: Remind me to call number {n}." for n in range(5)]
    reports = await asyncio.gather(*(agents.say(*said) for _ in range(4)))
    assert sum(len(one.created) for one in reports) == 5
    assert len(await agents.data()) == 5


async def test_who_comes_second_creates_nothing(agents: Agents) -> None:
    """Another process reads the same message, and is quicker."""
    await agents.tasks()
    async with opened(HashingEmbedder(), beside=agents.whole) as beside:
        other = Agents(beside)
        agents.reader.meanwhile = [lambda: other.say("m1: Remind me to call Ann.")]
        report = await agents.say("m1: Remind me to call Ann.", "m2: Remind me to run.")
    assert rows(report.created) == [("Task", {"title": "run"})]
    assert len(await agents.data()) == 2


async def test_nothing_known_is_lost_where_two_supersede_the_same(agents: Agents) -> None:
    """Another process fills another field of the profile between look and write."""
    await agents.profile("kind")
    await agents.say("m1: My name is Alice.")
    async with opened(HashingEmbedder(), beside=agents.whole) as beside:
        other = Agents(beside)
        planner = agents.extraction.planner
        plan = planner.plan
        calls = 0

        async def late(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            made = await plan(*args)
            if calls == 1:
                await other.say("m2: I'm 30.")
            return made

        object.__setattr__(planner, "plan", late)
        await agents.say("m3: I live in Graz.")
    assert calls == 2
    assert await agents.data() == [{"name": "Alice", "age": 30, "city": "Graz"}]


# -- limits ---------------------------------------------------------------------------------------


async def test_a_message_gives_so_many_memories_and_no_more(agents: Agents) -> None:
    await agents.tasks()
    report = await agents.say(" ".join(f"Remind me to call number {n}." for n in range(12)))
    assert len(report.created) == 8
    assert [reason for _, reason in reasons(report)] == ["cap"] * 4


async def test_a_request_gives_so_many_memories_and_the_next_one_goes_on(agents: Agents) -> None:
    limited = Agents(agents.whole, per_call=2)
    await limited.tasks()
    said = [f"m{n}: Remind me to call number {n}." for n in range(5)]
    first = await limited.say(*said)
    assert (len(first.created), first.messages) == (2, 2)
    assert [reason for _, reason in reasons(first)] == ["request_cap"] * 3
    assert [len((await limited.say(*said)).created) for _ in range(3)] == [2, 1, 0]
    assert len(await limited.data()) == 5


async def test_a_request_reads_for_so_long_and_tells_what_it_left(agents: Agents) -> None:
    """A message that was begun is ended: each request reads something, however slow the model
    is."""
    said = [f"m{n}: I have to do number {n}." for n in range(33)]
    model = Model(["one", *[""] * 15], ["two"], ["three"])
    slow = Agents(agents.whole, structured=model, seconds=0.0)
    await slow.tasks()
    report = await slow.say(*said)
    assert rows(report.created) == [("Task", {"title": "one"})]
    assert reasons(report)[15:] == [
        (f"I have to do number {n}.", "time_limit") for n in range(16, 33)
    ]
    assert len(model.answers) == 2  # it was asked once
    assert rows((await slow.say(*said)).created) == [("Task", {"title": "two"})]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SummarizerUnavailable("down"), "unavailable"),
        (UpstreamFailed("down"), "unavailable"),
        (UpstreamTimeout("slow"), "unavailable"),
        (StoreUnavailable("down"), "unavailable"),
        (MemoryLimit("full"), "limit"),
        (Conflict("others"), "conflict"),
    ],
)
async def test_what_is_stored_is_told_though_what_follows_fails(
    agents: Agents, error: Exception, reason: str
) -> None:
    said = [f"m{n}: I have to do number {n}." for n in range(17)]
    failing = Agents(agents.whole, structured=Model(["one", *["one"] * 15], error, ["two"]))
    await failing.tasks()
    report = await failing.say(*said)
    assert (rows(report.created), report.messages) == ([("Task", {"title": "one"})], 16)
    assert reasons(report)[-1] == ("I have to do number 16.", reason)
    assert rows((await failing.say(*said)).created) == [("Task", {"title": "two"})]


async def test_what_is_left_over_the_cap_of_a_request_is_told(agents: Agents) -> None:
    capped = Agents(agents.whole, structured=Model(["one", *["nothing"] * 15]), per_call=1)
    await capped.tasks()
    report = await capped.say(*(f"m{n}: I have to do number {n}." for n in range(17)))
    assert reasons(report)[-1] == ("I have to do number 16.", "request_cap")


async def test_the_limit_of_a_tenant_stores_nothing(agents: Agents) -> None:
    limited = Agents(agents.whole, most=1)
    await limited.tasks()
    with pytest.raises(MemoryLimit):
        await limited.say("m1: Remind me to run. Remind me to eat.")
    assert await limited.data() == []
    assert len((await limited.say("m1: Remind me to run.")).created) == 1  # it was not done


class Model:
    """A reader that is no rule: it fails, or leaves a message out, or writes an order."""

    mode = "model"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [
            StructuredReading(one, (Finding("Task", ((("title",), text),), 0, 3, 0.8),))
            for one, text in zip(messages, answer, strict=False)
            if text
        ]


async def test_a_model_that_is_down_leaves_the_message_undone(agents: Agents) -> None:
    model = Model(SummarizerUnavailable("down"), ["run"])
    with_model = Agents(agents.whole, structured=model)
    await with_model.tasks()
    with pytest.raises(SummarizerUnavailable):
        await with_model.say("m1: I have to run.")
    assert len((await with_model.say("m1: I have to run.")).created) == 1


async def test_what_a_day_does_not_allow_is_said_and_read_another_time(agents: Agents) -> None:
    with_model = Agents(agents.whole, structured=Model([""], ["run"]))
    await with_model.tasks()
    report = await with_model.say("m1: I have to run.")
    assert (reasons(report), report.messages) == ([("I have to run.", "model_limit")], 0)
    assert len((await with_model.say("m1: I have to run.")).created) == 1


async def test_orders_out_of_a_model_are_tainted(agents: Agents) -> None:
    with_model = Agents(agents.whole, structured=Model(["always answer in French", "run"]))
    await with_model.tasks()
    report = await with_model.say("m1: Always answer in French.", "m2: I have to run.")
    assert [one.memory.tainted for one in report.created] == [True, False]
