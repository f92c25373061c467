"""Check which memories stand beside a conversation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.clock import DAY
from memtree.history import chat_history
from memtree.history.conversation_beginning import origin
from memtree.history.message import Message, Volatile
from memtree.memories import memory_choice
from memtree.memories.memory import Memory, MemorySource, PossibleUpdate
from memtree.memories.memory_choice import (
    ALONE_ABROAD,
    CHAT_OPTIONS,
    LEAST,
    NEW,
    SHARING,
    SHARING_ABROAD,
    Choice,
    InjectionOptions,
    ages,
    chosen,
    depends,
    fits,
    may_change,
    stands,
    threshold_of,
)
from memtree.memories.memory_choice import Message as InjectableMessage
from memtree.memories.memory_choice import Message as OptionsMessage
from memtree.memories.memory_injection import fitting
from memtree.memories.memory_store import ShownMemory
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.ranking.relevance_scale import CHANCE, HALF
from memtree.text.memory_lines import MOST

# ------------------------------------------------------------------------------------------------
# Check which memories stand beside a conversation, and when what is known of that has to be stored.


NOW = 1_000_000.0


def memory(number: int, version: int = 1, **more) -> Memory:
    named = {"version": version, **more}
    return Memory(f"mem_{number}", number, f"fact number {number}", 0.0, 0.0, **named)


def shown(number: int, hit: float, version: int = 1) -> ShownMemory:
    return ShownMemory(f"mem_{number}", version, hit)


def live(*numbers: int) -> dict[str, Memory]:
    return {f"mem_{number}": memory(number) for number in numbers}


def numbers(choice: Choice) -> list[int]:
    return [one.number for one in choice.memories]


def test_hits_stand_in_the_order_in_which_they_were_saved():
    choice = chosen([memory(3), memory(1), memory(2)], (), {}, NOW)
    assert numbers(choice) == [1, 2, 3]
    assert choice.shown == (shown(1, NOW), shown(2, NOW), shown(3, NOW))
    assert choice.changed


@pytest.mark.parametrize(
    ("newer_tainted", "older_tainted", "left"),
    [(False, False, [2]), (False, True, [2]), (True, True, [2]), (True, False, [1, 2])],
)
def test_a_changed_value_takes_the_place_of_what_is_no_more_trusted(
    newer_tainted: bool, older_tainted: bool, left: list[int]
):
    updates = (PossibleUpdate("mem_1", "", ("8090 -> 8091",)),)
    hits = [memory(1, tainted=older_tainted), memory(2, tainted=newer_tainted, updates=updates)]
    assert numbers(chosen(hits, (), {}, NOW)) == left


def test_no_hit_and_nothing_shown_before_is_nothing():
    assert chosen((), (), {}, NOW) == Choice((), (), False)


def test_what_was_shown_stays_without_being_hit_again():
    before = (shown(1, NOW - 50), shown(4, NOW - 9))
    choice = chosen((), before, live(1, 4), NOW)
    assert numbers(choice) == [1, 4]
    assert choice.shown == before
    assert not choice.changed


def test_what_is_gone_is_shown_no_more():
    choice = chosen((), (shown(1, NOW - 50), shown(4, NOW - 9)), live(4), NOW)
    assert numbers(choice) == [4]
    assert choice.changed


def test_new_hits_crowd_out_those_whose_last_hit_is_oldest():
    before = tuple(shown(number, NOW - 10 * number) for number in range(1, 6))
    choice = chosen([memory(9), memory(8)], before, live(1, 2, 3, 4, 5), NOW)
    assert numbers(choice) == [1, 2, 3, 8, 9]
    assert choice.shown == (*before[:3], shown(8, NOW), shown(9, NOW))


def test_of_too_many_hits_the_best_are_taken():
    choice = chosen([memory(number) for number in (9, 2, 8, 3, 7, 1)], (), {}, NOW)
    assert numbers(choice) == [2, 3, 7, 8, 9]


def test_a_hit_that_is_shown_already_changes_nothing_but_the_time():
    before = (shown(1, NOW - 10), shown(2, NOW - 5))
    choice = chosen([memory(2)], before, live(1, 2), NOW)
    assert numbers(choice) == [1, 2]
    assert not choice.changed  # the next one to be crowded out is the same
    other = chosen([memory(1)], before, live(1, 2), NOW)
    assert other.changed
    assert other.shown == (shown(1, NOW), shown(2, NOW - 5))


def test_a_hit_after_a_day_is_stored_so_that_the_set_does_not_expire():
    before = (shown(1, NOW - DAY - 1),)
    assert chosen([memory(1)], before, live(1), NOW).changed
    assert not chosen((), before, live(1), NOW).changed


def test_an_edited_memory_is_shown_as_it_is_now():
    edited = memory(1, version=3)
    choice = chosen((), (shown(1, NOW - 5),), {"mem_1": edited}, NOW)
    assert choice.memories == (edited,)
    assert choice.shown == (shown(1, NOW - 5, version=3),)
    assert choice.changed


def test_of_memories_that_read_the_same_one_is_shown():
    twin = replace(memory(7), text="fact  number 2")
    assert numbers(chosen([memory(2), twin], (), {}, NOW)) == [2]


def test_a_snapshot_is_never_shown():
    assert numbers(chosen([memory(2, kind="snapshot"), memory(3)], (), {}, NOW)) == [3]


def test_what_is_of_another_branch_is_not_shown_and_not_forgotten():
    before = (shown(1, NOW - 50), shown(4, NOW - 9))
    there = live(1, 4, 7)
    choice = chosen([memory(7), memory(4)], before, there, NOW, away={"mem_4"})
    assert numbers(choice) == [1, 7]
    assert choice.shown == (shown(1, NOW - 50), shown(4, NOW - 9), shown(7, NOW))
    back = chosen((), choice.shown, there, NOW + 1)
    assert numbers(back) == [1, 4, 7]
    assert not back.changed


def test_what_is_remembered_for_other_branches_is_bounded():
    shown_before: tuple[ShownMemory, ...] = ()
    for number in range(1, 40):
        there = live(*range(1, 40))
        away = {f"mem_{other}" for other in range(1, 40) if other != number}
        choice = chosen([memory(number)], shown_before, there, NOW + number, 3, away=away)
        assert numbers(choice) == [number]
        shown_before = choice.shown
    assert len(shown_before) <= 6


def test_a_form_of_its_own_tells_which_read_the_same():
    twins = [memory(1), memory(2)]
    assert numbers(chosen(twins, (), {}, NOW, line=lambda one: "alike")) == [1]
    assert numbers(chosen(twins, (), {}, NOW, line=lambda one: "")) == []


moments = st.lists(st.tuples(st.lists(st.integers(1, 9), unique=True), st.sets(st.integers(1, 9))))


@pytest.mark.slow
@given(moments)
def test_a_walk_of_hits_and_deletions(steps):
    """Storing only when it has to be leads to the same sets as storing each time."""
    rarely: tuple[ShownMemory, ...] = ()
    always: tuple[ShownMemory, ...] = ()
    for step, (hits, gone) in enumerate(steps):
        there = live(*(set(range(1, 10)) - gone))
        found = [there[f"mem_{number}"] for number in hits if number not in gone]
        one = chosen(found, rarely, there, NOW + step)
        other = chosen(found, always, there, NOW + step)
        assert one.memories == other.memories
        assert len(one.memories) <= MOST
        assert numbers(one) == sorted(numbers(one))
        assert {memory.id for memory in found[:MOST]} <= {memory.id for memory in one.memories}
        assert not {f"mem_{number}" for number in gone} & {known.id for known in one.shown}
        again = chosen(found, one.shown, there, NOW + step)
        assert again.memories == one.memories  # a retry
        assert not again.changed
        rarely = one.shown if one.changed else rarely
        always = other.shown


# ------------------------------------------------------------------------------------------------
# Memories that may be out of date once they are old.


AGEING_DAY = 86_400.0


@pytest.mark.parametrize(
    "text",
    [
        "User works at Initech.", "My manager is Ruth", "Lives in Graz", "We moved to Leeds",
        "The office is in Canal Street", "Staging port is 8091.", "The API is at v3",
        "They run Python 3.11", "numpy is pinned to 1.26.4", "Plans to run a marathon",
        "User is going to visit Oslo", "Ich wohne in Wien", "Arbeitet als Lehrer",
        "Vivo en Bilbao", "Trabaja en un banco", "J'habite à Lyon", "Lavora come cuoco",
        "Moro em Lisboa", "Woont in Utrecht", "Mieszka w Krakowie", "Живёт в Москве",
        "Порт сервера 8090", "我住在杭州", "来年は引っ越す予定です",
        "서울에 살고 있다", "يعيش في القاهرة", "Der Nutzer plant einen Umzug",
        "L'utilisateur vit à Lyon",
    ],
)  # fmt: skip
def test_jobs_places_versions_ports_and_plans_change(text):
    assert may_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "User's dog is called Otto.", "User is allergic to nuts.", "Her birthday is on 3 May",
        "The violin weighs 0.5 kg", "User speaks Portuguese.", "Mag keinen Koriander",
        "Es alérgico al marisco", "User has two cats", "Сестру зовут Анна", "猫が二匹いる",
        "User waters each plant on Sundays", "User's dog is called Capo",
        "The user grew up near Porta Romana", "Der Nutzer hat einen Hund namens Will",
    ],
)  # fmt: skip
def test_others_do_not(text):
    assert not may_change(text)


def test_wishes_and_tastes_stay_and_appointments_pass():
    assert not may_change("User prefers to work at night", "preference")
    assert not may_change("Never say where user works at", "instruction")
    assert not may_change("Use port numbers in every answer", "fact", "wish")
    assert may_change("Dentist on 2026-03-15", "schedule")


def test_age_counts_from_when_it_was_last_said():
    old = Memory(
        "mem_1",
        1,
        "Lives in Graz",
        10 * AGEING_DAY,
        90 * AGEING_DAY,
        last_confirmed=30 * AGEING_DAY,
    )
    assert ages(old, 180 * AGEING_DAY) == 210 * AGEING_DAY
    assert (
        ages(
            Memory("mem_1", 1, "Lives in Graz", 10 * AGEING_DAY, 90 * AGEING_DAY), 180 * AGEING_DAY
        )
        == 190 * AGEING_DAY
    )
    assert ages(old, 0) is None
    assert ages(Memory("mem_1", 1, "Likes tea", 0.0, 0.0), 180 * AGEING_DAY) is None


# ------------------------------------------------------------------------------------------------
# A memory of a branch that the user left, told from one of another conversation.


LONG = "I keep bees behind the house, and this year I want to know more about their honey. " * 3


def talk(*texts: str) -> chat_history.History:
    """User and assistant in turn."""
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return chat_history.read("t", [Message.of(one) for one in said], Volatile())


def source(posted: chat_history.History, index: int) -> MemorySource:
    address = posted.addresses[index + 1].hex()
    return MemorySource(address=address, origin=origin(posted, index))


def addresses(posted: chat_history.History) -> set[str]:
    return {one.hex() for one in posted.addresses}


FIRST = talk(LONG, "Gladly.", "I like dark honey best.", "Noted.", "And now?")
OTHERS = {
    "goes on": talk(LONG, "Gladly.", "I like dark honey best.", "Noted.", "And now?", "Well."),
    "edited": talk(LONG, "Gladly.", "I like light honey best.", "Noted."),
    "another answer": talk(LONG, "Gladly.", "And now?"),
    "taken back": talk(LONG, "Gladly."),
    "new": talk("Which honey do I like?"),
    "new, alike at first": talk(LONG, "Why?", "Which honey do I like?"),
}


@pytest.mark.parametrize(
    ("now", "same", "strict"),
    [
        ("goes on", False, True),
        ("edited", False, False),
        ("another answer", False, False),
        ("taken back", False, False),
        ("new", True, False),
        ("new, alike at first", True, False),
    ],
)
def test_beside_which_history_it_stands(now, same, strict):
    said, there = source(FIRST, 2), addresses(OTHERS[now])
    assert fits(said, there, "same") is same
    assert fits(said, there, "strict") is strict
    assert fits(said, there, "off")


@pytest.mark.parametrize(
    ("now", "same", "strict"),
    [("goes on", True, True), ("edited", False, False), ("new", True, False)],
)
def test_a_standing_one_stands_beside_all_but_other_branches(now, same, strict):
    said, there = source(FIRST, 2), addresses(OTHERS[now])
    assert stands(said, there, "same") is same
    assert stands(said, there, "strict") is strict
    assert stands(said, there, "off")
    assert stands(None, there, "strict")


def test_what_may_be_folded_away_is_said_beside_its_own_history():
    said, there = source(FIRST, 2), addresses(OTHERS["goes on"])
    assert fits(said, there, "same", {said.address})
    assert not fits(source(FIRST, 4), there, "same", {said.address})
    assert not fits(said, addresses(OTHERS["edited"]), "same", {said.address})


@pytest.mark.parametrize("rule", ["same", "strict", "off"])
@pytest.mark.parametrize("said", [None, MemorySource(), MemorySource(message="msg_1")])
def test_what_was_said_nowhere_stands_beside_any(said, rule):
    assert not depends(said, rule)
    assert fits(said, {""}, rule)


def test_it_has_to_be_known_where_others_were_said():
    said = source(FIRST, 2)
    assert [depends(said, rule) for rule in ("same", "strict", "off")] == [True, True, False]


def test_what_was_said_before_the_conversation_had_a_beginning_is_of_no_other_branch():
    said = source(FIRST, 0)
    assert said.origin == ""
    assert fits(said, addresses(OTHERS["new, alike at first"]), "same") is False
    assert fits(said, addresses(OTHERS["new"]), "same")


# ------------------------------------------------------------------------------------------------
# Check which hits may stand beside a message.


def test_less_is_asked_of_a_hit_that_shares_a_word() -> None:
    message = InjectableMessage(50)
    assert message.admits(SHARING, shares_word=True)
    assert not message.admits(SHARING, shares_word=False)
    assert message.admits(HALF, shares_word=False)


def test_outside_english_a_little_more_is_asked() -> None:
    message = InjectableMessage(50, english=False)
    assert not message.admits(HALF, shares_word=False)
    assert message.admits(ALONE_ABROAD, shares_word=False)
    assert message.admits(SHARING, shares_word=True)


def test_a_language_that_the_embedder_hardly_knows_leaves_it_to_the_word() -> None:
    message = InjectableMessage(50, known=False)
    assert message.admits(SHARING_ABROAD, shares_word=True)
    assert not message.admits(HALF, shares_word=False)
    assert message.admits(CHANCE, shares_word=False)
    unread = InjectableMessage(100, by_words=True)
    assert unread.admits(LEAST, shares_word=True)
    assert not unread.admits(1.0, shares_word=False)


def test_more_is_asked_in_a_larger_scope() -> None:
    admitted = [
        InjectableMessage(size).admits(0.45, shares_word=False) for size in (3, 10, 100, 10_000)
    ]
    assert admitted == [True, True, False, False]
    assert not InjectableMessage(1_000).admits(0.6, shares_word=False)
    assert InjectableMessage(10_000).admits(SHARING, shares_word=True)


@given(st.floats(0, 1), st.booleans(), st.booleans(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_it_is_monotone_and_never_below_what_is_searched_for(
    relevance: float, shares: bool, known: bool, one: int, other: int
) -> None:
    few, many = sorted((one, other))
    if InjectableMessage(many, known).admits(relevance, shares_word=shares):
        assert InjectableMessage(few, known).admits(relevance, shares_word=shares)
        assert InjectableMessage(many, known).admits(1.0, shares_word=False)
        assert relevance >= LEAST


def hits(*scores: float) -> SearchResult:
    return SearchResult(
        tuple(
            MemoryHit(Memory(f"mem_{at}", at, f"Likes {at}.", 0.0, 0.0), 0.9, score)
            for at, score in enumerate(scores)
        )
    )


def test_what_is_far_behind_the_best_does_not_stand_beside_it() -> None:
    for scores, shown in (((2.0, 1.6, 1.5), 2), ((2.0,) * (NEW + 2), NEW), ((), 0)):
        assert len(fitting(hits(*scores), ("tea", ""), 100, CHAT_OPTIONS)) == shown
    of_user = InjectionOptions(5)  # who asks for five gets five
    assert len(fitting(hits(*[2.0] * 5, 1.5), ("tea", ""), 100, of_user)) == 5
    everything = InjectionOptions(threshold=0.1)
    assert len(fitting(hits(*[2.0] * 5, 0.1), ("tea", ""), 100, everything)) == 6


# ------------------------------------------------------------------------------------------------
# Check which hits may stand beside a message, as a request or a setting asks for it.


DOG = Memory("mem_a", 1, "Otto is a beagle", 0.0, 0.0, category="fact")


@pytest.mark.parametrize(
    ("threshold", "relevance", "fits"),
    [
        (None, 0.40, False),
        (None, 0.56, True),
        (0.3, 0.30, True),
        (0.3, 0.29, False),
        (0.9, 0.89, False),
        (0.0, 0.0, True),
    ],
)
def test_a_threshold_of_ones_own_takes_the_place_of_the_rule(threshold, relevance, fits):
    options = InjectionOptions(threshold=threshold)
    assert options.fits(relevance, OptionsMessage(100), shares_word=False) is fits
    unread = options.fits(relevance, OptionsMessage(100, by_words=True), shares_word=False)
    assert unread is (threshold is not None and fits)


def test_by_the_rule_a_shared_word_needs_less():
    assert InjectionOptions().fits(0.34, OptionsMessage(9), shares_word=True)
    assert not InjectionOptions().fits(0.34, OptionsMessage(9), shares_word=False)


def test_where_words_alone_rank_a_telling_word_is_needed():
    unread = OptionsMessage(9, by_words=True)
    assert InjectionOptions().fits(0.0, unread, shares_word=True)
    assert not InjectionOptions().fits(0.9, unread, shares_word=False)


def test_a_search_is_asked_for_no_more_than_may_fit():
    assert InjectionOptions().least == memory_choice.LEAST
    assert InjectionOptions(threshold=0.7).least == 0.7


def test_the_default_setting_is_the_rule():
    assert threshold_of(0.5) is None
    assert threshold_of(0.51) == 0.51


def test_a_category_leaves_others_out():
    assert InjectionOptions(category="fact").admits(DOG)
    assert not InjectionOptions(category="manual").admits(DOG)
    assert InjectionOptions().admits(DOG)
