"""A list that begins with an earlier one is read from there on, to the same history."""

from __future__ import annotations

import asyncio
from array import array

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.context.read_histories import MESSAGE_BYTES, ReadHistories
from memtree.errors import BadRequest
from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree.history.message_list import EarlierList, MessageList, RawMessages
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree_proxy.http.known_bodies import BLOCK, KnownBodies

VOLATILE = Volatile()


class CountedMessages(RawMessages):
    """Counts the messages that are looked at."""

    __slots__ = ("looked_at",)

    def __init__(self, messages, earlier=None, number=None):
        buffer = b"".join(one.raw for one in messages)
        ends = array("q", _ends(messages))
        starts = array("q", [0, *ends[:-1]])
        super().__init__(buffer, starts, ends, earlier, number=number)
        self.looked_at: set[int] = set()

    def __getitem__(self, index):
        self.looked_at |= set(range(len(self))[index] if isinstance(index, slice) else [index])
        return super().__getitem__(index)


def _ends(messages):
    at = 0
    for one in messages:
        at += len(one.raw)
        yield at


def memory():
    return ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())


def user(text):
    return Message.of({"role": "user", "content": text})


def calls(*ids):
    made = [{"id": i, "function": {"name": f"f{i}", "arguments": "{}"}} for i in ids]
    return Message.of({"role": "assistant", "content": None, "tool_calls": made})


def result(id_):
    return Message.of({"role": "tool", "tool_call_id": id_, "content": f"of {id_}"})


def said(role, text="x"):
    return Message.of({"role": role, "content": text})


MESSAGES = st.one_of(
    st.sampled_from(["a", "b"]).map(user),
    st.lists(st.sampled_from("123"), max_size=3).map(lambda ids: calls(*ids)),
    st.sampled_from("123").map(result),
    st.sampled_from("123").map(result),
    st.sampled_from(["system", "developer", "assistant"]).map(said),
    st.just(Message.of({"role": "user", "content": "c", "cache_control": {"type": "ephemeral"}})),
    st.just(Message(b'{"role":"user","content":"a"}', True, frozenset({"t"}))),
    st.just(Message(b'{"role":"nobody"}')),
    st.just(Message(b'{"role":"user","content":"h')),
)
GOOD = MESSAGES.filter(lambda one: b"nobody" not in one.raw and one.raw.endswith(b"}"))


def outcome(read):
    """Return what it came to: a history without its messages, or the error."""
    try:
        found = read()
    except BadRequest as error:
        return error.message, error.param
    return (
        [m.raw for m in found.messages],
        [(index, m.raw) for index, m in found.system],
        *(found.facts, found.posted, found.rounds, found.cuts, found.addresses, found.totals),
        *(found.system_tokens, found.system.markers, found.tokens, len(found)),
        *(found.marked, found.loading, found.late, found.borders, found.texts, found.length),
        found.system_facts,
    )


def read_anew(messages):
    return chat_history.read("t", messages, VOLATILE)


def keep(kept, tenant, posted):
    known = kept.known(tenant, posted) or chat_history.nothing_read(tenant, VOLATILE)
    kept.add(posted, known.extended(posted))


def length_of(kept, posted):
    known = kept.known("t", posted)
    return known.length if known else 0


@pytest.mark.slow
@given(st.lists(GOOD, max_size=12), st.lists(MESSAGES, max_size=6), st.data())
def test_going_on_is_reading_everything(beginning, rest, data):
    try:
        before = read_anew(beginning)
    except BadRequest:
        event("the beginning is no history")
        return
    length = data.draw(st.integers(0, len(beginning)))
    posted = [*beginning[:length], *rest]
    known = before.first(length)
    assert known.length <= length
    found = outcome(lambda: known.extended(posted))
    assert found == outcome(lambda: chat_history.read("t", posted, VOLATILE))
    event("an error" if len(found) == 2 else "a history")


def read_with(service: ContextMemory, posted: MessageList, tenant="t"):
    return asyncio.run(service.read(CompressRequest(tenant, posted)))


TALK = [said("system"), *(one for n in range(40) for one in (user(f"q{n}"), said("assistant")))]


def test_only_what_is_new_is_looked_at():
    service = memory()
    first = CountedMessages(TALK)
    read_with(service, first)
    assert len(first.looked_at) == len(TALK)
    longer = [*TALK, user("one more"), said("assistant")]
    second = CountedMessages(longer, EarlierList(first.number, len(TALK) - 1))
    found = read_with(service, second)
    assert second.looked_at == set(range(len(TALK) - 2, len(longer)))
    assert outcome(lambda: found) == outcome(lambda: chat_history.read("t", longer, VOLATILE))


def test_messages_with_markers_and_those_that_load_tools_are_told():
    marked = Message.of({"role": "user", "content": "c", "cache_control": {"type": "ephemeral"}})
    loading = Message(user("a").raw, loads=frozenset({"search"}))
    found = chat_history.read("t", [said("system"), marked, user("a"), loading, marked], VOLATILE)
    assert found.marked == (0, 3)
    assert found.loading == (2,)


def test_the_same_list_is_not_read_twice():
    service = memory()
    posted = CountedMessages(TALK[1:])
    once = read_with(service, posted)
    posted.looked_at.clear()
    assert outcome(lambda: read_with(service, posted))[2:] == outcome(lambda: once)[2:]
    read_with(service, posted)
    again = CountedMessages(TALK[1:], EarlierList(posted.number, len(TALK) - 1))
    read_with(service, again)
    assert len(again.looked_at) == 1  # the round at the end, which a tool message may go on


def test_of_another_tenant_nothing_is_known():
    kept = ReadHistories()
    first = CountedMessages(TALK)
    keep(kept, "t", first)
    assert length_of(kept, first) == len(TALK)
    assert kept.known("u", first) is None
    branch = CountedMessages(TALK, EarlierList(first.number, len(TALK)))
    assert kept.known("u", branch) is None


def test_it_is_bounded_in_bytes_and_the_oldest_go_first():
    kept = ReadHistories(most=3 * (MESSAGE_BYTES * len(TALK) + 2_000))
    lists = [CountedMessages(TALK) for _ in range(5)]
    for posted in lists:
        keep(kept, "t", posted)
        kept.known("t", lists[0])
    assert [length_of(kept, one) > 0 for one in lists] == [True, False, False, True, True]
    assert 0 < kept.nbytes <= 3 * (MESSAGE_BYTES * len(TALK) + 2_000)
    small = ReadHistories(most=10)
    keep(small, "t", lists[0])
    assert small.known("t", lists[0]) is None


def test_ids_of_calls_count_with_their_length():
    named = "i" * 100_000
    talk = [user("a"), calls(named), result(named), user("b"), calls(named)]
    kept = ReadHistories(most=2_000_000)
    for _ in range(5):
        posted = CountedMessages(talk)
        keep(kept, "t", posted)
        assert kept.nbytes <= 2_000_000
    assert length_of(kept, posted) == 0  # more than all may take
    small = CountedMessages(talk[:1])
    record = read_anew(CountedMessages(talk))
    assert record.texts >= 4 * len(named)
    begun = record.first(len(talk) - 1)
    read = read_anew(CountedMessages(talk[:3]))
    assert (begun.length, begun.texts) == (3, read.texts)
    assert record.first(1).texts == 0
    keep(kept, "t", small)
    assert length_of(kept, small) == 1


def test_a_longer_list_takes_the_place_of_the_one_it_begins_with_and_a_branch_does_not():
    kept = ReadHistories()
    first = CountedMessages(TALK)
    keep(kept, "t", first)
    branch = CountedMessages(TALK[:9], EarlierList(first.number, 9))
    keep(kept, "t", branch)
    assert length_of(kept, first)
    without = CountedMessages(TALK[:-2], EarlierList(first.number, len(TALK) - 2))
    keep(kept, "t", without)
    assert length_of(kept, first)  # the end was taken back, and may be said again
    longer = CountedMessages([*TALK, user("more")], EarlierList(first.number, len(TALK)))
    keep(kept, "t", longer)
    assert not length_of(kept, first)
    assert length_of(kept, branch)
    assert length_of(kept, longer)


@pytest.mark.parametrize("whose", ["t", None])
def test_forgetting_drops_a_tenants_lists(whose):
    kept = ReadHistories()
    lists = {tenant: CountedMessages(TALK) for tenant in "tu"}
    for tenant, posted in lists.items():
        keep(kept, tenant, posted)
    assert kept.tenants == {"t", "u"}
    kept.forget(whose)
    assert kept.tenants == ({"u"} if whose else set())
    assert not length_of(kept, lists["t"])
    if whose is None:
        assert kept.nbytes == 0


def test_every_deletion_forgets_what_was_read():
    service = memory()
    first = CountedMessages(TALK)
    read_with(service, first)
    assert service.cached_tenants == {"t"}
    asyncio.run(service.forget_tenant("t"))
    assert service.cached_tenants == set()
    read_with(service, first)
    assert len(first.looked_at) == len(TALK)
    service.forgotten(None)
    assert service.cached_tenants == set()


@pytest.mark.slow
def test_two_agents_that_share_a_beginning_are_each_read_from_where_they_were():
    """The edge names the newest body that has a body's first blocks."""
    service, bodies = memory(), KnownBodies(1)
    size = BLOCK // 8
    shared = [one for n in range(200) for one in (user(f"{n}".ljust(size)), said("assistant"))]
    agents = {name: list(shared) for name in "ab"}
    found = {}
    for number, name in enumerate("abababaabbaabbbabb"):
        new = [user(f"{name}{number} {n}".ljust(size)) for n in range(5)]
        agents[name] += [*new, said("assistant", name)]
        raw = b'{"messages":[' + b",".join(one.raw for one in agents[name]) + b"]}"
        items = bodies.split(bodies.begin("t", "messages", raw)).items("messages")
        posted = CountedMessages(agents[name], items.earlier, number=items.number)
        found[name] = read_with(service, posted)
        # Behind the last block that is known, the first time that of the shared beginning.
        most = len(new) + 2 * BLOCK // size + 6
        assert number == 0 or len(posted.looked_at) <= most, (number, name)
    for name, messages in agents.items():
        anew = chat_history.read("t", messages, VOLATILE)
        assert outcome(lambda name=name: found[name]) == outcome(lambda anew=anew: anew)


def test_of_lists_that_end_otherwise_each_time_two_are_kept():
    kept = ReadHistories()
    earlier, row = None, 0
    for number in range(6):
        posted = CountedMessages([*TALK, user(f"said otherwise {number}")], earlier)
        keep(kept, "t", posted)
        earlier, row = EarlierList(posted.number, len(TALK)), row or kept.nbytes
    assert kept.nbytes == 2 * row
