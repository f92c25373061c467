"""Snapshots by a model: once a window, judged, and paid within the limits."""

from __future__ import annotations

import pytest

from memtree.background.snapshots import READ_MESSAGE, ModelSnapshots, SnapshotKeeper, windows
from memtree.background.spending import TOKENS, DailyLimits, Spending
from memtree.conversation import history
from memtree.conversation.history import History
from memtree.conversation.message import Message, Volatile
from memtree.days import day_of
from memtree.errors import SummarizerUnavailable
from memtree.memories.scope import Scope
from memtree.stores import RamStore
from memtree.text import tokens
from tests.fakes import HashingEmbedder
from tests.made.summaries import Answer, ScriptedSummarizer, Unavailable
from tests.unit.memories.books import HandClock, Opened, opened

ME = Scope.of_user("t", "me")
ROUNDS = [
    ("My sister Ida moved to Graz.", "Graz lies on the river Mur."),
    ("We planted 12 apple trees behind the barn.", "Apple trees need sun."),
    ("The old tractor lost a wheel on Monday.", "A new wheel costs 400 euros."),
    ("I paint boats when it rains.", "Rain is rare in June."),
    ("Our cat Miro sleeps in the kitchen.", "Kitchens are warm."),
    ("The barn got a red roof.", "Red tiles last long."),
]


def talk(users: int, *, answered: bool = True) -> History:
    rows: list[dict[str, str]] = []
    for asked, answer in ROUNDS[:users]:
        rows += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    if not answered:
        rows.pop()
    return history.read("t", [Message.of(row) for row in rows], Volatile())


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
        assert await keep(snapshots, talk(5, answered=False)) == []
        [text] = await keep(snapshots, talk(5))
        assert "In short" in text
        assert tokens.count(text) <= 200
        assert await keep(snapshots, talk(6)) == []
        assert await keep(keeper(whole, model), talk(6)) == []  # after a restart
        assert model.calls == 1
        assert "12 apple trees" in model.prompts[0]
        [memory] = (await whole.book.page(ME)).memories
        assert (memory.capture_mode, memory.kind) == ("model", "snapshot")


async def test_what_a_model_writes_and_the_checks_refuse_is_extracted_instead() -> None:
    async with opened(HashingEmbedder()) as whole:
        wrong = '{"parts": [{"id": "1", "headline": "Towns", "body": "The user owns 77 castles."}]}'
        [text] = await keep(keeper(whole, ScriptedSummarizer(Answer(wrong))), talk(5))
        assert "castles" not in text
        [memory] = (await whole.book.page(ME)).memories
        assert memory.capture_mode == "rule"


async def test_a_model_that_is_down_is_asked_again_later() -> None:
    async with opened(HashingEmbedder()) as whole:
        snapshots = keeper(whole, ScriptedSummarizer(Unavailable()))
        with pytest.raises(SummarizerUnavailable):
            await keep(snapshots, talk(5))
        assert len(await keep(snapshots, talk(5))) == 1


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
            history.read("t", [Message.of(row) for row in rows], Volatile()),
        )
        await ModelSnapshots(model, Spending(RamStore(), HandClock())).write(of, 0, len(of))
        assert "12 apple trees" in model.prompts[0]
        assert key[:kept] not in model.prompts[0]


async def test_a_call_is_counted_and_the_limit_of_the_day_holds() -> None:
    store, clock, model = RamStore(), HandClock(), ScriptedSummarizer()
    of = talk(5)
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
