"""Snapshots, with and without a model, and what models may cost."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.clock import day_of
from memtree.config import Settings
from memtree.errors import StoreUnavailable, SummarizerUnavailable
from memtree.history import chat_history
from memtree.history.chat_history import History
from memtree.history.message import Message, Volatile
from memtree.jobs.snapshots import (
    MOST_TOKENS,
    READ_MESSAGE,
    ModelSnapshots,
    SnapshotKeeper,
    snapshot_text,
    windows,
)
from memtree.jobs.spending import MICROS, TOKENS, DailyLimits, Spending, SummaryPrices
from memtree.memories.scope import Scope
from memtree.ports.models import Usage
from memtree.stores import RamStore
from memtree.text import memory_lines, tokens
from tests.fakes import HashingEmbedder
from tests.made.shown_lines import lines_of
from tests.made.summaries import Answer, ScriptedSummarizer, Unavailable
from tests.unit.jobs.refined import T0, Hands
from tests.unit.memories.books import HandClock, Opened, opened

# ------------------------------------------------------------------------------------------------
# Snapshots.


KEY = "sk-" + "Zx8Qw3Lm9Tn4Vb7Rk2Pd6Hs1Jf5Gc0Ya"
COMPACTION = (
    "Summarize our conversation so far. Another agent will continue from your summary. "
    "Reply with the summary only."
)


def read(*messages: dict[str, Any]) -> History:
    return chat_history.read("t", [Message.of(message) for message in messages], Volatile())


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str = "Sure, done.") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def tool_round(result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def talk(count: int) -> list[dict[str, Any]]:
    texts = (f"My sister Ana moved to town number {at} this week." for at in range(count))
    return [message for text in texts for message in (user(text), answer())]


def spans(told: History) -> list[tuple[int, int, bool]]:
    return [(window.start, window.end, window.answered) for window in windows(told)]


def test_every_fifth_message_of_the_user_ends_a_window():
    assert windows(read(*talk(4))) == []
    assert spans(read(*talk(5)[:-1])) == [(0, 9, False)]
    assert spans(read(*talk(5))) == [(0, 10, True)]
    assert spans(read(*talk(9))) == [(0, 10, True)]
    assert spans(read(*talk(11))) == [(0, 10, True), (10, 20, True)]


def test_the_key_is_the_same_before_and_behind_the_answer_and_on_branches():
    asked, answered = read(*talk(5)[:-1]), read(*talk(5))
    branch = read(*talk(5)[:-1], answer("Something else."), user("And now?"))
    keys = {windows(told)[0].key for told in (asked, answered, branch)}
    assert keys == {asked.addresses[9]}
    other = talk(5)
    other[2] = user("My brother moved to town.")
    assert windows(read(*other))[0].key not in keys


def test_a_window_is_open_while_tools_are_at_work():
    begun = [*talk(5)[:-1], *tool_round("ok")]
    assert spans(read(*begun)) == [(0, 11, False)]
    assert spans(read(*begun, answer())) == [(0, 12, True)]
    assert spans(read(*begun, answer(), user("Thanks"))) == [(0, 12, True)]


@pytest.mark.parametrize(
    "text",
    [
        COMPACTION,
        "<system-reminder>It is Monday.</system-reminder>",
        "[read_file for 'a.py'] Result:\nI am a file",
        " ",
    ],
)
def test_what_no_person_said_is_not_counted(text):
    told = [*talk(4), user(text), answer(), user("I like tea."), answer()]
    assert spans(read(*told)) == [(0, 12, True)]
    assert spans(read(*told[:-2])) == []


def test_results_of_tools_are_no_messages_of_the_user():
    told = [*talk(4), *(message for _ in range(9) for message in tool_round("ok"))]
    assert windows(read(*told)) == []


def test_a_snapshot_tells_what_was_said_in_its_window_and_nothing_else():
    told = read(
        user("I want to move our shop from Leeds to York in spring."),
        answer("The lease in York begins on 1 March."),
        user("We decided to keep Ana Petrova as the manager."),
        answer(),
        user("Another matter is the Oslo branch."),
    )
    text = snapshot_text(told, 0, 4)
    assert "York" in text
    assert "Ana Petrova" in text
    assert "Oslo" not in text
    assert "\n" not in text


def test_a_snapshot_has_at_most_200_tokens_and_no_code():
    long = "The harbour of Bergen has number {} in our list of visited places, said Ana Petrova. "
    code = "```python\nfor value in values:\n    print(value_of_this_line)\n```\n"
    many = [user(code + "".join(long.format(at * 7 + i) for i in range(40))) for at in range(30)]
    text = snapshot_text(read(*many), 0, 30)
    assert 20 < tokens.count(text) <= MOST_TOKENS
    assert "print(" not in text


def test_secrets_and_what_this_server_put_in_do_not_get_into_a_snapshot():
    said = f"The key of our deployment is {KEY} and it is called Falcon."
    ours = memory_lines.block(lines_of(["Ana lives in Reykjavik (fact)"]))
    for filler in ("", "Nothing happened in the harbour. " * 181):  # over the end of what is read
        text = snapshot_text(read(user(f"{ours}\n\n{filler}{said}"), answer()), 0, 2)
        assert text
        assert KEY[:12] not in text
        assert "Reykjavik" not in text


def test_nothing_said_gives_nothing():
    assert snapshot_text(read(user("hi"), answer()), 1, 1) == ""
    assert snapshot_text(read(user(" ")), 0, 1) == ""


# ------------------------------------------------------------------------------------------------
# Snapshots by a model: once a window, judged, and paid within the limits.


ME = Scope.of_user("t", "me")
ROUNDS = [
    ("My sister Ida moved to Graz.", "Graz lies on the river Mur."),
    ("We planted 12 apple trees behind the barn.", "Apple trees need sun."),
    ("The old tractor lost a wheel on Monday.", "A new wheel costs 400 euros."),
    ("I paint boats when it rains.", "Rain is rare in June."),
    ("Our cat Miro sleeps in the kitchen.", "Kitchens are warm."),
    ("The barn got a red roof.", "Red tiles last long."),
]


def snapshot_model_talk(users: int, *, answered: bool = True) -> History:
    rows: list[dict[str, str]] = []
    for asked, answer in ROUNDS[:users]:
        rows += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    if not answered:
        rows.pop()
    return chat_history.read("t", [Message.of(row) for row in rows], Volatile())


def keeper(whole: Opened, model: ScriptedSummarizer) -> SnapshotKeeper:
    writer = ModelSnapshots(model, Spending(RamStore(), whole.clock))
    ids = (f"mem_{number:024x}" for number in whole.ids)
    return SnapshotKeeper(whole.store, whole.book.saving, whole.clock, lambda: next(ids), writer)


async def keep(snapshots: SnapshotKeeper, of: History) -> list[str]:
    kept = [await snapshots.keep(ME, of, window) for window in await snapshots.lacking(ME, of)]
    return [memory.text for memory in kept if memory]


async def test_a_model_writes_it_once_when_the_answer_is_there() -> None:
    async with opened(HashingEmbedder()) as whole:
        model = ScriptedSummarizer()
        snapshots = keeper(whole, model)
        assert await keep(snapshots, snapshot_model_talk(5, answered=False)) == []
        [text] = await keep(snapshots, snapshot_model_talk(5))
        assert "In short" in text
        assert tokens.count(text) <= 200
        assert await keep(snapshots, snapshot_model_talk(6)) == []
        assert await keep(keeper(whole, model), snapshot_model_talk(6)) == []  # after a restart
        assert model.calls == 1
        assert "12 apple trees" in model.prompts[0]
        [memory] = (await whole.book.page(ME)).memories
        assert (memory.capture_mode, memory.kind) == ("model", "snapshot")


async def test_what_a_model_writes_and_the_checks_refuse_is_extracted_instead() -> None:
    async with opened(HashingEmbedder()) as whole:
        wrong = '{"parts": [{"id": "1", "headline": "Towns", "body": "The user owns 77 castles."}]}'
        [text] = await keep(
            keeper(whole, ScriptedSummarizer(Answer(wrong))), snapshot_model_talk(5)
        )
        assert "castles" not in text
        [memory] = (await whole.book.page(ME)).memories
        assert memory.capture_mode == "rule"


async def test_a_model_that_is_down_is_asked_again_later() -> None:
    async with opened(HashingEmbedder()) as whole:
        snapshots = keeper(whole, ScriptedSummarizer(Unavailable()))
        with pytest.raises(SummarizerUnavailable):
            await keep(snapshots, snapshot_model_talk(5))
        assert len(await keep(snapshots, snapshot_model_talk(5))) == 1


@pytest.mark.slow
async def test_no_half_of_a_secret_reaches_a_model() -> None:
    """Where a long message is cut, a key may be cut as well, and half of one is told by nothing."""
    key = "sk-proj-" + "aB3dE5gH7jK9" * 4
    for kept in (4, 12, 40):
        said = ("We planted 12 apple trees behind the barn. " * 100)[: READ_MESSAGE - kept]
        rows = [{"role": "user", "content": f"{said[: said.rindex(' ')]:<{len(said)}}{key}"}]
        rows += [{"role": "user", "content": asked} for asked, _ in ROUNDS[:4]]
        rows.append({"role": "assistant", "content": "Good."})
        model, of = (
            ScriptedSummarizer(),
            chat_history.read("t", [Message.of(row) for row in rows], Volatile()),
        )
        await ModelSnapshots(model, Spending(RamStore(), HandClock())).write(of, 0, len(of))
        assert "12 apple trees" in model.prompts[0]
        assert key[:kept] not in model.prompts[0]


async def test_a_call_is_counted_and_the_limit_of_the_day_holds() -> None:
    store, clock, model = RamStore(), HandClock(), ScriptedSummarizer()
    of = snapshot_model_talk(5)
    [window] = windows(of)
    limits = DailyLimits(tokens=1)
    assert await ModelSnapshots(model, Spending(store, clock, limits=limits)).write(of, 0, 10) == ""
    assert model.calls == 0
    writer = ModelSnapshots(model, Spending(store, clock))
    assert await writer.write(of, window.start, window.end)
    day = day_of(clock.now())
    tallied = await store.tallies("t", day, day)
    assert tallied[TOKENS] == model.input_tokens + model.output_tokens
    await writer.close()
    assert model.closed


# ------------------------------------------------------------------------------------------------
# Check what summaries cost: reserved, settled, limited by tenant and day.


DAY = int(T0 // 86_400)


async def test_a_call_is_reserved_at_its_most_and_settled_at_what_it_was():
    store, clock = RamStore(), Hands()
    spending = Spending(store, clock, SummaryPrices(2, 1, 10))
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    assert await store.tallies("t", DAY, DAY) == {TOKENS: 1_300, MICROS: 5_000}
    usage = Usage(900, 100, 400)
    micros = await spending.settle(reserved, usage, {"calls": 1, "nodes": 4})
    assert micros == 500 * 2 + 400 * 1 + 100 * 10
    assert await store.tallies("t", DAY, DAY) == {
        TOKENS: 1_000,
        MICROS: micros,
        "summary.input_tokens": 900,
        "summary.cached_tokens": 400,
        "summary.output_tokens": 100,
        "summary.calls": 1,
        "summary.nodes": 4,
    }
    assert await spending.spent("t") == {
        "calls": 1,
        "input_tokens": 900,
        "cached_tokens": 400,
        "output_tokens": 100,
        "micros": micros,
    }
    assert not any((await spending.spent("u")).values())


@pytest.mark.parametrize(
    ("limits", "prices"),
    [
        (DailyLimits(tokens=2_000), SummaryPrices()),
        (DailyLimits(micros=10_000), SummaryPrices(5, 5, 5)),
    ],
)
async def test_a_limit_is_of_a_tenant_and_a_day(limits: DailyLimits, prices: SummaryPrices):
    clock = Hands()
    spending = Spending(RamStore(), clock, prices, limits)
    first = await spending.reserve("t", 900, 100)
    assert first is not None
    assert await spending.reserve("t", 900, 100) is not None, "up to the limit"
    assert await spending.reserve("t", 1, 0) is None
    assert await spending.reserve("u", 900, 100) is not None
    await spending.settle(first, Usage(500, 100))
    assert await spending.reserve("t", 401, 0) is None
    assert await spending.reserve("t", 400, 0) is not None, "what was not needed is free again"
    clock.seconds += 86_400
    assert await spending.reserve("t", 900, 100) is not None


async def test_a_call_over_midnight_is_settled_on_its_own_day():
    store, clock = RamStore(), Hands()
    spending = Spending(store, clock)
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    clock.seconds += 86_400
    await spending.settle(reserved, Usage(10, 20))
    assert (await store.tallies("t", DAY, DAY))[TOKENS] == 30
    assert await store.tallies("t", DAY + 1, DAY + 1) == {}


async def test_a_store_that_fails_leaves_the_reservation():
    class Failing(RamStore):
        broken = False

        async def add(self, *given):
            if self.broken:
                raise StoreUnavailable("locked")
            return await super().add(*given)

    store = Failing()
    spending = Spending(store, Hands())
    reserved = await spending.reserve("t", 1_000, 300)
    assert reserved is not None
    store.broken = True
    await spending.settle(reserved, Usage(10, 20))
    assert (await store.tallies("t", DAY, DAY))[TOKENS] == 1_300


def test_prices_and_limits_of_the_settings():
    settings = Settings(
        summary_input_price=0.25,
        summary_output_price=2.0,
        summary_money_per_day=1.5,
        summary_tokens_per_day=7,
    )
    assert SummaryPrices.of(settings) == SummaryPrices(0.25, 0.25, 2.0)
    assert DailyLimits.of(settings) == DailyLimits(7, 1_500_000)
    assert SummaryPrices(0.25, 0.025, 2.0).micros(Usage(1_000_000, 0, 1_000_000)) == 25_000
    assert SummaryPrices(0.25, 0.025, 2.0).micros(Usage(1, 0)) == 1, "a started millionth counts"
    assert SummaryPrices(1, 1, 1).micros(Usage(100, 0, 300)) == 100, (
        "no more is cached than was read"
    )
