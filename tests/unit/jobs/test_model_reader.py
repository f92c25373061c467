"""A model finds memories and answers questions: when it is asked, what of it is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import date

import pytest

from memtree.agents.grounded_answers import UNKNOWN
from memtree.clock import day_of
from memtree.config import Settings
from memtree.errors import SummarizerUnavailable, Unavailable, UpstreamTimeout
from memtree.jobs.agent_services import MemoryAnswers, open_answers
from memtree.jobs.model_readers import ModelReader
from memtree.jobs.spending import TOKENS, DailyLimits, MeteredModel, Spending
from memtree.jobs.summary_calls import CallOutcome
from memtree.jobs.summary_queue import USELESS, ModelHealth
from memtree.memories.memory import Memory
from memtree.memories.message_extraction import ReadMessage, UserMessage
from memtree.memories.scope import Scope
from memtree.models.chat_endpoint import ChatEndpoint
from memtree.ports.models import ModelAnswer, ModelQuestion, Usage
from memtree.stores import RamStore
from tests.made.embeddings import Status
from tests.made.summaries import Answer, Hand, Summaries, serving
from tests.unit.memories.books import HandClock

# ------------------------------------------------------------------------------------------------
# A model finds memories: what it is asked, what that costs, and what of its answer is kept.


ME = Scope.of_user("t", "me")
KEY = "sk-proj-" + "aB3dE5gH7jK9" * 4


def note(message: str, quote: str, text: str, category: str = "fact") -> dict[str, str]:
    return {"message": message, "quote": quote, "text": text, "category": category}


def said(*notes: dict[str, str]) -> str:
    return json.dumps({"memories": list(notes)})


class Scripted:
    """A `ChatModel` that gives these answers, one a call; an error is raised."""

    recipe = "scripted"

    def __init__(self, *answers: str | ModelAnswer | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[ModelQuestion] = []
        self.closed = False

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        self.asked.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = ModelAnswer(answer, True, Usage(100, 20))
        return answer

    async def close(self) -> None:
        self.closed = True


class Counted:
    """A reader over a model, and what is tallied."""

    def __init__(self, model: Scripted, limits: DailyLimits | None = None) -> None:
        self.store, self.clock = RamStore(), HandClock()
        spending = Spending(self.store, self.clock, limits=limits or DailyLimits())
        self.metered = MeteredModel(model, spending)
        self.reader = ModelReader(self.metered)

    async def read(self, *texts: str) -> Sequence[ReadMessage]:
        messages = [UserMessage(text.encode(), text, date(2026, 3, 4)) for text in texts]
        return await self.reader.read(ME, messages)

    async def tallied(self) -> dict[str, int]:
        day = day_of(self.clock.now())
        return dict(await self.store.tallies("t", day, day))


def found(rows: Sequence[ReadMessage]) -> list[list[str]]:
    return [[candidate.text for candidate in row.candidates] for row in rows]


def reasons(row: ReadMessage) -> list[str]:
    return [skip.reason for skip in row.skipped]


ROME, CATS = "I live in Rome.", "Hi! I have two cats and a dog."


async def test_what_is_grounded_is_a_memory_with_its_place() -> None:
    model = Scripted(
        said(
            note("2", "I have two cats", "User has two cats.", "general"),
            note("1", "I live in Rome", "User lives in Rome."),
            note("1", "I live in Rome", "User lives in Paris."),
            note("2", "I have a bird", "User has a bird."),
        )
    )
    one, two = await Counted(model).read(ROME, CATS)
    assert found([one, two]) == [["User lives in Rome."], ["User has two cats."]]
    [cats] = two.candidates
    assert (CATS[cats.start : cats.end], cats.category) == ("I have two cats", "general")
    assert [tuple(skip) for skip in one.skipped] == [("User lives in Paris.", "not_grounded")]
    assert reasons(two) == ["not_grounded"]


TASK, TROUBLE = (
    "Rename the folder and send the letter to Ida.",
    "The date parser crashes on 2024-02-30.",
)
WANTED = "I want to learn Go this year. From now on, write all commit messages in English."


async def test_a_task_or_a_step_of_the_work_is_no_memory_whatever_the_model_makes_of_it() -> None:
    model = Scripted(
        said(
            note("1", TASK, "User renames the folder and sends the letter to Ida."),
            note("2", TROUBLE, "The date parser crashes on 2024-02-30."),
            note(
                "3",
                "write all commit messages in English",
                "User wants commit messages in English.",
            ),
            note("3", "I want to learn Go", "What does User want to learn? Go."),
        )
    )
    task, trouble, wanted = await Counted(model).read(TASK, TROUBLE, WANTED)
    assert [reasons(row) for row in (task, trouble)] == [["request"], ["code"]]
    assert found([wanted]) == [["User wants commit messages in English."]]
    assert reasons(wanted) == ["not_grounded"]


async def test_a_note_that_names_no_message_is_of_the_one_that_it_quotes() -> None:
    model = Scripted(
        said(
            note("Hi!", "I have two cats", "User has two cats."),
            note("", "I have a bird", "User has a bird."),
        )
    )
    one, two = await Counted(model).read(ROME, CATS)
    assert found([one, two]) == [[], ["User has two cats."]]
    assert [tuple(skip) for skip in one.skipped] == [("User has a bird.", "not_grounded")]


async def test_a_sentence_of_the_user_beside_a_wrong_quotation_is_told_of_the_user() -> None:
    model = Scripted(
        said(
            note("1", "Hi!", "I have two cats and a dog."),
            note("1", "Hi!", "I have two cats and a bird."),
        )
    )
    [row] = await Counted(model).read(CATS)
    assert found([row]) == [["User has two cats and a dog."]]
    [cats] = row.candidates
    assert CATS[cats.start : cats.end].startswith("I have two cats and a dog")


async def test_what_cannot_be_told_of_the_user_word_by_word_is_told_as_said() -> None:
    text = "I'm a baker and our team of 6 bakes on Fridays."
    [row] = await Counted(Scripted(said(note("1", text, text)))).read(text)
    assert found([row]) == [[f"User said: {text}"]]


@pytest.mark.parametrize("beginning", ["User ", "User: ", "User, ", "The user, "])
async def test_a_user_who_says_i_is_told_of_once(beginning: str) -> None:
    text = "I prefer short answers and I never use tabs."
    [row] = await Counted(Scripted(said(note("1", text, f"{beginning}{text}")))).read(text)
    [[memory]] = found([row])
    assert memory == "User prefers short answers and the user never uses tabs."


async def test_a_relative_date_has_the_day_on_which_it_was_said() -> None:
    text = "I see the dentist tomorrow."
    answer = said(note("1", text, "User sees the dentist tomorrow.", "schedule"))
    [row] = await Counted(Scripted(answer)).read(text)  # said on 4 March 2026
    [memory] = row.candidates
    assert memory.text == "User sees the dentist tomorrow (said 2026-03-04)."


async def test_it_is_asked_once_for_several_messages_and_pays_within_the_limits() -> None:
    model = Scripted(said())
    counted = Counted(model)
    rows = await counted.read(ROME, CATS, "```\ncode\n```")
    assert found(rows) == [[], [], []]  # read, and nothing was in them
    [question] = model.asked
    content = question.messages[1]["content"]
    assert "I live in Rome." in content
    assert "code" not in content
    assert question.fruitful(said(), True)
    assert not question.fruitful("I cannot", True)
    tallied = await counted.tallied()
    assert tallied[TOKENS] == 120  # what it was, not what was reserved
    assert tallied["summary.calls"] == 1
    assert counted.metered.totals.calls == {"answered": 1}
    assert counted.metered.totals.tokens["output"] == 20


async def test_what_holds_nothing_to_ask_about_costs_nothing() -> None:
    model = Scripted()
    counted = Counted(model)
    rows = await counted.read("```\nI = 1\n```", f"The key is {KEY}")
    assert found(rows) == [[], []]
    assert reasons(rows[1]) == ["secret"]
    assert model.asked == []
    assert await counted.tallied() == {}


async def test_a_model_that_is_down_leaves_the_messages_undone() -> None:
    model = Scripted(SummarizerUnavailable("down", wait=7.0, cost=(30, 0)), said())
    counted = Counted(model)
    with pytest.raises(SummarizerUnavailable):
        await counted.read(ROME)
    assert (await counted.tallied())[TOKENS] == 30
    assert found(await counted.read(ROME)) == [[]]
    assert counted.metered.totals.calls == {"failed": 1, "answered": 1}


async def test_when_the_limit_of_the_day_is_reached_messages_wait() -> None:
    model = Scripted(said(), said())
    counted = Counted(model, DailyLimits(tokens=1_200))
    assert len(await counted.read(ROME)) == 1
    rows = await counted.read(*(f"I own {number} red books." for number in range(40)))
    assert rows == []  # none of them is done
    assert counted.metered.totals.calls["limited"] == 1
    counted.clock.time += 86_400.0
    assert len(await counted.read(CATS)) == 1


UNREADABLE: list[str | ModelAnswer] = [
    "I'd rather not say.",
    ModelAnswer(said(note("1", "I live in Rome", "User lives in Rome.")), False, Usage(9, 9)),
]


@pytest.mark.parametrize("first", UNREADABLE)
async def test_an_answer_that_cannot_be_read_or_was_cut_is_asked_for_one_by_one(
    first: str | ModelAnswer,
) -> None:
    model = Scripted(
        first,
        said(note("1", "I live in Rome", "User lives in Rome.")),
        "I'd rather not say.",
    )
    rows = await Counted(model).read(ROME, CATS)
    assert found(rows) == [["User lives in Rome."]]  # the other one waits for the next request
    assert len(model.asked) == 3


async def test_a_single_message_is_asked_for_twice_and_then_left_undone() -> None:
    model = Scripted("no", said(note("1", "I live in Rome", "User lives in Rome.")))
    assert found(await Counted(model).read(ROME)) == [["User lives in Rome."]]
    model = Scripted("no", "no")
    assert await Counted(model).read(ROME) == []
    assert len(model.asked) == 2


async def test_a_message_gives_so_many_candidates_and_no_more() -> None:
    towns = ["Rome", "Pisa", "Oslo", "Graz", "Bonn", "Bern", "Kyiv", "Lima", "Cork", "Bath"]
    text = " ".join(f"I know {town} well." for town in towns)
    answer = said(*(note("1", f"I know {t} well", f"User knows {t} well.") for t in towns))
    [row] = await Counted(Scripted(answer)).read(text)
    assert len(row.candidates) == 8
    assert reasons(row) == ["cap", "cap"]


@pytest.mark.slow
async def test_a_real_endpoint_is_asked_in_the_form_that_it_takes() -> None:
    answer = Answer(said(note("1", "I live in Rome", "User lives in Rome.")))
    async with serving(Summaries(Status(503), answer, always=answer)) as server:
        server.refuses = {"max_tokens", "json_schema"}
        hand = Hand()
        endpoint = ChatEndpoint(server.url, "m", clock=hand, sleep=hand.sleep)
        store = RamStore()
        metered = MeteredModel(endpoint, Spending(store, HandClock()))
        reader = ModelReader(metered)
        [row] = await reader.read(ME, [UserMessage(b"a", ROME)])
        assert found([row]) == [["User lives in Rome."]]
        asked = server.answered[-1].body
        assert asked["response_format"] == {"type": "json_object"}
        assert "max_completion_tokens" in asked
        await metered.close()


async def test_closing_closes_the_model() -> None:
    model = Scripted()
    await Counted(model).metered.close()
    assert model.closed


# ------------------------------------------------------------------------------------------------
# Who is not asked for: a model that is down or of no use.


NODES = [bytes([n]) for n in range(2 * USELESS)]


def written(*nodes: bytes) -> CallOutcome:
    return CallOutcome(done=frozenset(nodes))


def kept(*nodes: bytes) -> CallOutcome:
    """Both drafts of these were rejected."""
    return CallOutcome(done=frozenset(nodes), kept=frozenset(nodes))


def test_a_model_is_useless_to_a_tenant_after_so_many_nodes_in_a_row():
    health = ModelHealth()
    assert [health.observe("t", kept(node)) for node in NODES[:USELESS]] == [
        *[False] * (USELESS - 1),
        True,
    ]
    assert health.useless("t")
    assert not health.useless("other")


def test_one_summary_that_is_accepted_ends_the_row():
    health = ModelHealth()
    health.observe("t", kept(*NODES[: USELESS - 1]))
    mixed = CallOutcome(done=frozenset(NODES[:2]), kept=frozenset(NODES[:1]))
    assert not health.observe("t", mixed)
    assert not health.observe("t", kept(*NODES[: USELESS - 1]))
    assert not health.useless("t")


def test_first_drafts_that_are_rejected_do_not_count():
    health = ModelHealth()
    for node in NODES:
        assert not health.observe("t", CallOutcome(rejected={node: (1, 1)}))
    assert not health.useless("t")


def test_a_model_that_is_down_is_up_again_once_it_answers():
    health = ModelHealth()
    health.down = True
    health.observe("t", CallOutcome(leased=frozenset(NODES)))
    assert health.down, "it was not asked"
    health.observe("t", CallOutcome(rejected={NODES[0]: (1, 1)}))
    assert not health.down


# ------------------------------------------------------------------------------------------------
# Answers by a model: when it is asked, what that costs, and what becomes of a failure.


PORT = Memory("mem_1", 1, "The staging port is 8090", 0.0, 0.0)
SAID = json.dumps({"answer": "8090.", "sources": [1]})


class MemoryAnswersScripted:
    """A `ChatModel` that gives one answer; an error is raised, None never comes."""

    recipe = "scripted"

    def __init__(self, answer: str | Exception | None = SAID) -> None:
        self.said = answer
        self.asked: list[ModelQuestion] = []
        self.closed = False

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        self.asked.append(question)
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is None:
            await asyncio.sleep(600)
        return ModelAnswer(self.said or "", True, Usage(100, 20))

    async def close(self) -> None:
        self.closed = True


class MemoryAnswersCounted:
    def __init__(self, model: MemoryAnswersScripted, limits: DailyLimits | None = None) -> None:
        self.store, self.clock = RamStore(), HandClock()
        spending = Spending(self.store, self.clock, limits=limits or DailyLimits())
        self.answers = MemoryAnswers(model, spending, seconds=0.05)

    async def tallied(self) -> dict[str, int]:
        day = day_of(self.clock.now())
        return dict(await self.store.tallies("t", day, day))


async def test_an_answer_names_its_sources_and_is_paid():
    model = MemoryAnswersScripted()
    of = MemoryAnswersCounted(model)
    found = await of.answers.answer("t", "which port?", [PORT])
    assert (found.text, found.sources) == ("8090.", ("mem_1",))
    assert "The staging port is 8090" in model.asked[0].messages[1]["content"]
    assert (await of.tallied())[TOKENS] == 120
    assert of.answers.totals == {"grounded": 1}
    assert model.asked[0].fruitful(SAID, True)
    assert not model.asked[0].fruitful("8090", True)


async def test_where_nothing_was_found_nobody_is_asked():
    model = MemoryAnswersScripted()
    assert await MemoryAnswersCounted(model).answers.answer("t", "which port?", []) == UNKNOWN
    assert model.asked == []


async def test_over_the_limit_of_a_day_nobody_is_asked():
    model = MemoryAnswersScripted()
    with pytest.raises(Unavailable, match="limit"):
        await MemoryAnswersCounted(model, DailyLimits(tokens=10)).answers.answer(
            "t", "which port?", [PORT]
        )
    assert model.asked == []


async def test_a_model_that_is_down_costs_what_it_may_have_cost():
    of = MemoryAnswersCounted(MemoryAnswersScripted(SummarizerUnavailable("down", cost=(7, 1))))
    with pytest.raises(SummarizerUnavailable):
        await of.answers.answer("t", "which port?", [PORT])
    assert (await of.tallied())[TOKENS] == 8


async def test_a_model_that_is_late_is_not_waited_for():
    of = MemoryAnswersCounted(MemoryAnswersScripted(None))
    with pytest.raises(UpstreamTimeout):
        await of.answers.answer("t", "which port?", [PORT])
    assert (await of.tallied())[TOKENS] > 100  # it may have been spent


async def test_what_cannot_be_read_is_an_error_that_says_so():
    with pytest.raises(Unavailable, match="read"):
        await MemoryAnswersCounted(MemoryAnswersScripted("no JSON")).answers.answer(
            "t", "which port?", [PORT]
        )


@pytest.mark.slow
async def test_without_a_model_there_are_no_answers():
    assert open_answers(Settings(), RamStore(), HandClock()) is None
    assert open_answers(Settings(summary_model="m"), RamStore(), HandClock()) is None
    named = Settings(summary_model="m", summary_base_url="http://localhost:1/v1")
    assert open_answers(named, None, HandClock()) is None
    opened = open_answers(named, RamStore(), HandClock())
    assert opened is not None
    await opened.close()
