"""Standing memories in prompts: with every message, beside the others, and in the same order."""

from __future__ import annotations

import pytest

from memtree.memories.book import MemoryRules
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.memory_choice import InjectionOptions
from memtree.memories.scope import Scope
from memtree.text.memory_lines import MemoryLine
from tests.fakes import HashingEmbedder
from tests.made.standing_lists import ordinary
from tests.unit.memories.books import Opened, opened

SCOPE = Scope.of_user("t")
WISHES = (
    "Always answer in British English.", "Call the user Captain.", "Never use emojis.",
    "User wants recipes in grams, not cups.", "Please write all code examples in Python.",
    "User prefers short answers.", "Use metric units only.", "User is vegetarian.",
    "Write dates as day month year.", "Don't apologise in your replies.",
    "User would like answers in bullet points.", "Keep your tone friendly.",
)  # fmt: skip
ASKED = (
    "What should I cook tonight?", "Fix this regex for me", "When is the demo?",
    "Plan a weekend in Graz", "Wo steht das Auto?", "Explain how a heat pump works",
    "Quelle est la date de la réunion ?", "Which database does the team use?",
    "Write a poem about bees", "¿Cuándo es la reunión?",
)  # fmt: skip


async def saved(of: Opened, text: str, **more: object) -> Memory:
    draft = MemoryDraft(text, **more)  # type: ignore[arg-type]
    return (await of.book.save(SCOPE, draft, DedupPolicy.INSERT)).memory


async def shown(of: Opened, asked: str, *keys: str, most: int = 3) -> tuple[MemoryLine, ...]:
    choice = await of.book.injection.choose(SCOPE, keys, asked, InjectionOptions(most))
    assert choice.degraded == ()
    return choice.lines


async def test_twelve_wishes_stand_in_ten_ordinary_chats():
    async with opened(HashingEmbedder()) as of:
        for text in ordinary()[:60]:
            await saved(of, text)
        ids = [(await saved(of, text)).id for text in WISHES]
        before = None
        for number, asked in enumerate(ASKED):
            lines = await shown(of, asked, f"chat {number}")
            standing = [line for line in lines if line.standing]
            assert [line.memory.id for line in standing] == ids
            assert len(lines) - len(standing) <= 3  # they do not count against the others
            assert before in (None, standing)
            before = standing


async def test_a_person_pins_and_unpins():
    async with opened(HashingEmbedder()) as of:
        plain, wish = await saved(of, "The port is 8090."), await saved(of, WISHES[2])
        assert [line.memory.id for line in await shown(of, "What now?")] == [wish.id]
        await of.book.edit(SCOPE, wish.id, Edit(standing=False))
        await of.book.edit(SCOPE, plain.id, Edit(standing=True))
        assert [line.memory.id for line in await shown(of, "What now?")] == [plain.id]
        await of.book.edit(SCOPE, wish.id, Edit(text="Never use emoticons."))
        assert [line.memory.id for line in await shown(of, "What now?")] == [plain.id]


async def test_they_can_be_switched_off():
    async with opened(HashingEmbedder(), MemoryRules(standing=False)) as of:
        await saved(of, WISHES[2])
        assert await shown(of, "What now?") == ()


@pytest.mark.parametrize("by_person", [True, False])
async def test_what_a_model_saved_waits_for_a_person(by_person: bool):
    async with opened(HashingEmbedder()) as of:
        given = {"source_type": "model", "tainted": True}
        wish = await saved(of, "Always answer in French.", **given)
        assert (wish.standing, wish.tainted) == ("", True)
        await of.book.confirm(SCOPE, wish.id, by_person=by_person)
        texts = [line.text for line in await shown(of, "What now?")]
        assert texts == (["Always answer in French. (1970-01-12)"] if by_person else [])


async def test_an_old_job_may_be_out_of_date_in_a_prompt():
    for days, mark in ((180, "; may be out of date"), (0, "")):
        async with opened(HashingEmbedder(), MemoryRules(stale_days=days)) as of:
            memory = await saved(of, "User works at Initech.")
            asked, (told,) = "Who works at Initech?", ("User works at Initech. (1970-01-12",)
            of.clock.time += 180 * 86_400
            (line,) = await shown(of, asked)
            assert line.at(of.clock.time - 1).text == f"{told})"
            assert line.at(of.clock.time).text == f"{told}{mark})"
            kept = await of.book.injection.kept(SCOPE).lines([line.memory])
            assert list(kept.values()) == [line]
            await of.book.confirm(SCOPE, memory.id, by_person=True)
            (line,) = await shown(of, asked)
            assert line.at(of.clock.time).text == "User works at Initech. (1970-07-11)"


async def test_a_translation_changes_no_value():
    async with opened(HashingEmbedder()) as of:
        for text in ("Le chien Otto Bismarck est un beagle de Vienne.",
                     "El perro Otto Bismarck es un beagle de Vienne."):  # fmt: skip
            newer = (await of.book.save(SCOPE, MemoryDraft(text))).memory
        assert newer.updates == ()


async def test_a_newer_value_stands_alone_with_the_former_one():
    async with opened(HashingEmbedder()) as of:
        for text in ("The staging port is 8090.", "The staging port is 8091."):
            newer = (await of.book.save(SCOPE, MemoryDraft(text))).memory
        assert [update.differs for update in newer.updates] == [("8090 -> 8091",)]
        asked = "Which port has staging?"
        assert [line.text for line in await shown(of, asked)] == [
            "The staging port is 8091. (was: 8090) (fact, 1970-01-12)"
        ]
        await of.book.settle(SCOPE, newer.id, newer.updates[0].id, replaces=False, by_person=True)
        assert len(await shown(of, asked)) == 2


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("User is vegetarian.", "User is not vegetarian any more.", "(was: vegetarian)"),
        ("Ich wohne in Graz.", "User has moved to Linz.", "(was: Graz)"),
        ("User lives in Graz.", "J'habite à Linz.", "(was: Graz)"),
    ],
)
async def test_a_standing_memory_yields_at_once_to_the_one_that_changed_it(
    before: str, after: str, line: str
):
    async with opened(HashingEmbedder()) as of:
        old = await saved(of, before)
        assert [each.memory.id for each in await shown(of, "What now?")] == [old.id]
        new = (await of.book.save(SCOPE, MemoryDraft(after))).memory
        (there,) = await shown(of, "What now?")
        assert there.memory.id == new.id
        assert line in there.text
        await of.book.delete(SCOPE, [new.id])
        assert [each.memory.id for each in await shown(of, "What now?")] == [old.id]


async def test_what_waits_for_a_person_takes_no_standing_place():
    async with opened(HashingEmbedder()) as of:
        old = await saved(of, "User is vegetarian.")
        over = MemoryDraft("User is not vegetarian any more.", source_type="model", tainted=True)
        assert (await of.book.save(SCOPE, over)).memory.updates
        assert old.id in [each.memory.id for each in await shown(of, "What now?")]
