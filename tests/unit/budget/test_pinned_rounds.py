"""Check which rounds stay whole because they load tools."""

from __future__ import annotations

from memtree.budget.epoch_budget import least_memory
from memtree.budget.packing import PINNED_SHARE, TokenLimits, begin, pack
from memtree.budget.pinned_rounds import pinned_rounds
from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from tests.unit.budget.test_packing import sized


def loading(history, loads, joined=()):
    """Return the history with rounds that load tools; `loads`: names of tools by message."""
    messages = [
        Message(one.raw, at in joined, frozenset(loads.get(at, ())))
        for at, one in enumerate(history.messages)
    ]
    return read("t", messages, Volatile(), count=lambda text: int(text or 0))


# Messages 0, then 1-2, 3-4 and so on: calls with one result each, then a long chat.
ROUNDS = [("user", 100), *[("tools", 20, 200)] * 4, *[("user", 100), ("assistant", 900)] * 40]


def test_of_each_tool_the_latest_round_before_the_cut_stays():
    history = loading(sized(*ROUNDS), {2: ["Edit"], 4: ["Edit", "Grep"], 6: ["Edit"]})
    assert pinned_rounds(history, 9, 10_000) == ((3, 5), (5, 7))
    assert pinned_rounds(history, 7, 10_000) == ((3, 5), (5, 7))
    assert pinned_rounds(history, 5, 10_000) == ((3, 5),)
    assert pinned_rounds(history, 3, 10_000) == ((1, 3),)
    assert pinned_rounds(history, 1, 10_000) == ()


def test_what_follows_the_cut_changes_nothing():
    """Else what is sent would not only grow at its end."""
    shorter = loading(sized(*ROUNDS[:20]), {2: ["Edit"]})
    longer = loading(sized(*ROUNDS), {2: ["Edit"], 30: ["Edit"]})
    assert pinned_rounds(shorter, 9, 1_000) == pinned_rounds(longer, 9, 1_000) == ((1, 3),)


def test_a_round_stays_with_what_is_joined_to_it():
    rounds = [("user", 100), ("tools", 20, 200), ("user", 5), ("user", 5), *ROUNDS[5:]]
    history = loading(sized(*rounds), {2: ["Edit"]}, joined={3, 4})
    assert history.cuts[:3] == (0, 1, 5)
    assert pinned_rounds(history, 5, 1_000) == ((1, 5),)
    named_there = loading(sized(*rounds), {3: ["Edit"]}, joined={3, 4})
    assert pinned_rounds(named_there, 5, 1_000) == ((1, 5),)


def test_what_does_not_fit_leaves_its_place_to_an_older_one():
    rounds = [("user", 9), ("tools", 20, 50), ("tools", 20, 500), *ROUNDS[5:]]
    history = loading(sized(*rounds), {2: ["Edit"], 4: ["Edit", "Grep"]})
    assert pinned_rounds(history, 5, 600) == ((3, 5),)
    assert pinned_rounds(history, 5, 519) == ((1, 3),)
    assert pinned_rounds(history, 5, 69) == ()


def test_the_first_message_is_never_pinned():
    assert pinned_rounds(loading(sized(*ROUNDS), {0: ["Edit"]}), 9, 10_000) == ()


def test_they_stand_beside_memory_and_count():
    plain = sized(*ROUNDS)
    history = loading(plain, {2: ["Edit"]})
    limits = TokenLimits(20_000, hard=True, prompt=100_000)
    for packs in (pack, begin):
        without, found = packs(plain, limits, 0), packs(history, limits, 0)
        assert without.pinned == ()
        assert found.pinned == ((1, 3),)
        assert found.beside == without.beside + 220
        assert found.recent + found.memory + found.beside <= 20_000
    assert pack(history, limits, 0).memory == pack(plain, limits, 0).memory - 220


def test_memory_comes_first_where_there_is_no_room_for_both():
    """A target whose newest round takes all but the least memory."""
    history = loading(sized(*ROUNDS, ("user", 3_000)), {2: ["Edit"]})
    limits = TokenLimits(4_000, hard=True, prompt=100_000)
    assert int(PINNED_SHARE * 4_000) >= 220
    for packs in (pack, begin):
        found = packs(history, limits, 0)
        assert found.pinned == ()
        assert found.memory >= least_memory(4_000)
