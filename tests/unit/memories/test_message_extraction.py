"""Memories out of messages: each message once, each memory once, and a reason for what is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.message_extraction import (
    TOLD,
    ExtractionReport,
    MemoryExtraction,
    MessagePlace,
    ReadMessage,
    RuleReader,
    SkippedText,
    UserMessage,
)
from memtree.memories.rule_extraction import Candidate, Extraction, extract
from memtree.memories.scope import Scope
from memtree.statements.grammar import Skip, SkipReason
from tests.fakes import HashingEmbedder
from tests.made.saved_memories import TopicEmbedder
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

ME = Scope.of_user("t", "me")


def extraction(whole: Opened, **more: Any) -> MemoryExtraction:
    return MemoryExtraction(
        whole.store,
        whole.book.saving,
        RuleReader(extract),
        whole.clock,
        lambda: f"mem_{next(whole.ids):024x}",
        **more,
    )


@pytest.fixture
async def whole() -> AsyncIterator[Opened]:
    async with opened(HashingEmbedder()) as book:
        yield book


def message(*texts: str) -> UserMessage:
    return UserMessage(texts[0].encode(), " ".join(texts))


def found(*texts: str, digest: bytes = b"d", **fields: Any) -> ReadMessage:
    candidates = tuple(Candidate(text, "fact", 0, len(text), **fields) for text in texts)
    return ReadMessage(UserMessage(digest, " ".join(texts)), candidates)


def texts(report: ExtractionReport) -> list[str]:
    return [memory.text for memory in report.stored]


def reasons(report: ExtractionReport) -> list[tuple[str, str]]:
    return [(skip.text, skip.reason) for skip in report.skipped]


async def test_what_a_user_says_of_themselves_is_stored_with_its_source(whole: Opened) -> None:
    runs = extraction(whole)
    said = UserMessage(b"one", "Hello! I'm allergic to nuts. What can I bake?", date(2026, 5, 1))
    [read] = await runs.read(ME, [said])
    report = await runs.keep(ME, read, MessagePlace("aa", "bb"))
    assert texts(report) == ["User is allergic to nuts"]
    [memory] = await whole.store.get(ME, [report.stored[0].id])
    assert (memory.source_type, memory.capture_mode, memory.category, memory.tainted) == (
        "extraction",
        "rule",
        "fact",
        False,
    )
    source = memory.source
    assert source
    assert (source.digest, source.address, source.origin) == (b"one".hex(), "aa", "bb")
    assert source.recorded == whole.clock.now()
    assert "allergic to nuts" in said.text[source.start : source.end]
    # A question is none, and the answer says so.
    assert ("What can I bake?", "question") in reasons(report)
    assert report.messages == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm allergic to nuts.", "Ben is allergic to nuts"),
        ("I don't eat meat because my wife is vegan.",
         "Ben doesn't eat meat because Ben's wife is vegan"),
        ("My wife Ingrid and I adopted our greyhound Pickle.",
         "Ben's wife is Ingrid; they adopted their greyhound Pickle"),
        ("Ich habe zwei Katzen.", "Ben hat zwei Katzen"),
        ("Always answer in German.", "Ben said: Always answer in German"),
    ],
)  # fmt: skip
async def test_of_several_people_each_fact_names_its_own(
    whole: Opened, said: str, told: str
) -> None:
    runs = extraction(whole)
    [read] = await runs.read(ME, [UserMessage(b"one", said, speaker="Ben")])
    assert texts(await runs.keep(ME, read)) == [told]


async def test_words_of_the_speaker_about_users_stay(whole: Opened) -> None:
    said = "I like how the user is asked."
    note = Candidate("User likes how the user is asked", "fact", 0, len(said))
    read = ReadMessage(UserMessage(b"d", said, speaker="Ben"), (note,))
    assert texts(await extraction(whole).keep(ME, read)) == ["Ben likes how the user is asked"]


async def test_a_message_is_read_once(whole: Opened) -> None:
    runs = extraction(whole)
    assert await runs.undone(ME, [b"a", b"b"]) == {b"a", b"b"}
    await runs.keep(ME, found("I live in Rome", digest=b"a"))
    await runs.keep(ME, found(digest=b"b"))  # that nothing was in it is known, too
    assert await runs.undone(ME, [b"a", b"b", b"c"]) == {b"c"}
    assert await runs.undone(Scope.of_user("t", "other"), [b"a"]) == {b"a"}
    assert await runs.undone(ME, []) == set()
    again = await runs.keep(ME, found("I live in Rome, Italy", digest=b"a"))
    assert again == ExtractionReport()


async def test_what_was_deleted_does_not_come_back_with_its_message(whole: Opened) -> None:
    runs = extraction(whole)
    report = await runs.keep(ME, found("I live in Rome", digest=b"a"))
    await whole.book.delete(ME, [report.stored[0].id], purge=True)
    assert await runs.undone(ME, [b"a"]) == set()
    assert await runs.keep(ME, found("I live in Rome", digest=b"a")) == ExtractionReport()
    assert (await whole.book.page(ME)).total == 0


async def test_what_is_known_is_not_stored_twice(whole: Opened) -> None:
    runs = extraction(whole)
    await whole.book.save(ME, MemoryDraft("User lives in Rome."))
    report = await runs.keep(ME, found("user lives in rome", "User lives in Pisa"))
    assert texts(report) == ["User lives in Pisa"]
    assert reasons(report) == [("user lives in rome", "duplicate")]


async def test_two_sentences_of_one_message_that_say_the_same_are_one_memory(whole: Opened) -> None:
    runs = extraction(whole)
    report = await runs.keep(ME, found("User has two cats", "User has 2 cats", "User has 3 cats"))
    assert texts(report) == ["User has two cats", "User has 3 cats"]
    assert reasons(report) == [("User has 2 cats", "duplicate")]


async def test_a_secret_is_not_stored_and_the_rest_is(whole: Opened) -> None:
    runs = extraction(whole)
    secret = "User's api key is sk-proj-" + "aB3dE5gH7jK9" * 4
    report = await runs.keep(ME, found("User lives in Rome", secret))
    assert texts(report) == ["User lives in Rome"]
    assert [skip.reason for skip in report.skipped] == ["secret"]


async def test_what_cannot_be_stored_or_is_over_is_left_out(whole: Opened) -> None:
    runs = extraction(whole, max_text_chars=40)
    now = whole.clock.now()
    report = await runs.keep(ME, found("User \ud800", "User " + "x" * 50))
    assert [skip.reason for skip in report.skipped] == ["unstorable", "unstorable"]
    past = await runs.keep(ME, found("User flies to Oslo", digest=b"p", expires=now - 1))
    assert [skip.reason for skip in past.skipped] == ["expired"]
    later = await runs.keep(ME, found("User flies to Bergen", digest=b"l", expires=now + 9))
    assert later.stored[0].expires == now + 9


async def test_one_message_gives_so_many_memories_and_no_more(whole: Opened) -> None:
    runs = extraction(whole)
    towns = ["Rome", "Pisa", "Oslo", "Graz"]
    report = await runs.keep(ME, found(*(f"User knows {town}" for town in towns)), most=2)
    assert texts(report) == ["User knows Rome", "User knows Pisa"]
    assert [skip.reason for skip in report.skipped] == ["cap", "cap"]
    assert await runs.undone(ME, [b"d"]) == set()


async def test_a_tenant_that_is_full_stores_nothing_and_the_message_is_not_done(
    whole: Opened,
) -> None:
    runs = extraction(whole, most=1)
    await runs.keep(ME, found("User lives in Rome", digest=b"a"))
    report = await runs.keep(ME, found("User has a cat", digest=b"b"))
    assert report.full
    assert reasons(report) == [("User has a cat", "limit")]
    assert await runs.undone(ME, [b"b"]) == {b"b"}


async def test_a_dry_run_stores_nothing_and_marks_nothing(whole: Opened) -> None:
    runs = extraction(whole)
    before = await whole.store.state(ME)
    report = await runs.keep(ME, found("User lives in Rome"), MessagePlace("aa"), dry_run=True)
    [memory] = report.stored
    assert (memory.number, memory.text, memory.category) == (0, "User lives in Rome", "fact")
    assert memory.source
    assert memory.source.address == "aa"
    assert await whole.store.state(ME) == before
    assert await runs.undone(ME, [b"d"]) == {b"d"}


async def test_an_embedder_that_is_down_holds_nothing_up_and_its_vectors_follow() -> None:
    moody = MoodyEmbedder()
    async with opened(moody) as whole:
        moody.down = True
        report = await extraction(whole, patience=0.05).keep(ME, found("User has a cat"))
        assert texts(report) == ["User has a cat"]
        lacking = await whole.store.without_vectors(ME, moody.recipe, 9)
        assert [memory.text for memory in lacking] == ["User has a cat"]
        moody.down = False
        await whole.book.join()
        assert await whole.store.without_vectors(ME, moody.recipe, 9) == []


async def test_a_duplicate_that_words_do_not_tell_is_settled_when_the_embedder_is_back() -> None:
    embedder = TopicEmbedder(fails=True)
    async with opened(embedder) as whole:
        await whole.book.save(ME, MemoryDraft("The user owns a dog"))
        report = await extraction(whole).keep(ME, found("User has a dog"))
        assert texts(report) == ["User has a dog"]
        embedder.fails = False
        await whole.book.join()
        page = await whole.book.page(ME)
        assert [memory.text for memory in page.memories] == ["The user owns a dog"]


async def test_two_at_once_store_a_message_once(whole: Opened) -> None:
    async with opened(HashingEmbedder(), beside=whole) as other:
        reports = await asyncio.gather(
            *(
                extraction(each).keep(ME, found("User lives in Rome", digest=b"a"))
                for each in (whole, other, whole, other)
            )
        )
    assert sorted(len(report.stored) for report in reports) == [0, 0, 0, 1]
    assert (await whole.book.page(ME)).total == 1


async def test_the_rules_are_given_the_day_and_the_beginning_of_a_message() -> None:
    seen: list[tuple[int, date | None, int, bool]] = []

    def rules(
        text: str, said: date | None = None, *, most: int = 8, fiction: bool = False
    ) -> Extraction:
        seen.append((len(text), said, most, fiction))
        return Extraction((), (Skip(0, 3, SkipReason.QUESTION),))

    day = date(2026, 5, 1)
    message = UserMessage(b"a", "Hm?" * 50_000, day, fiction=True)
    [read] = await RuleReader(rules, most=5).read(ME, [message])
    assert seen == [(100_000, day, 5, True)]
    assert [(skip.text, skip.reason) for skip in read.skipped] == [("Hm?", "question")]


async def test_what_changes_a_value_is_kept_as_what_it_may_replace(whole: Opened) -> None:
    [old] = (await extraction(whole).keep(ME, found("The port is 8090"))).stored
    [new] = (await extraction(whole).keep(ME, found("The port is 8091", digest=b"e"))).stored
    [update] = new.updates
    assert (update.id, update.differs) == (old.id, ("8090 -> 8091",))
    [stored] = await whole.store.get(ME, [new.id])
    assert [each.id for each in stored.updates] == [old.id]
    [other] = (await extraction(whole).keep(ME, found("Likes green tea", digest=b"f"))).stored
    assert not other.updates


def test_a_secret_is_masked_before_a_skipped_text_is_cut() -> None:
    text = "a" * (TOLD - 10) + " ghp_" + "a1B2c3" * 6
    cut = SkippedText.cut(text, SkipReason.CAP)
    assert "ghp_a1" not in cut.shown
    assert len(cut.shown) <= TOLD


@pytest.mark.parametrize(
    "text",
    [
        "Imagine you are a pirate called Jack and I am your captain. My password is hunter2.",
        "Moje hasło to kotek123",
        "Şifrem kedi123",
        "Мой пароль qwerty123",
        "パスワードはneko123です",
        "我的密码是abc12345",
        "비밀번호는 abc123이야",
        "كلمة المرور هي abc123",
    ],
)
def test_no_skipped_text_shows_a_password(text: str) -> None:
    skipped = [
        SkippedText(text[skip.start : skip.end], str(skip.reason)) for skip in extract(text).skipped
    ]
    assert skipped
    assert not any(skip.shown for skip in skipped)
