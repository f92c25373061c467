"""A history that begins with an earlier one is translated from there on, with the same result as
translating all of it: whatever was posted before, however it grows, branches or is edited."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.context.answer import Answer, KeptMessage, MemoryText
from memtree.context.answer_state import State
from memtree.dialects import messages_history, responses_history
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.messages_request import KnownRequests
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.responses_items import ItemCache, KnownInputs
from memtree.dialects.translated_messages import raw_items
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.conversation_beginning import preamble
from memtree.history.message_list import EarlierList
from memtree.text.memory_lines import MemoryLine, MemoryVersion
from tests.properties.strategies import history_of
from tests.wire.conversations import as_responses, conversations
from tests.wire.messages.messages_sessions import Session
from tests.wire.messages.messages_shorthand import (
    assistant,
    called,
    result,
    server_call,
    text,
    user,
)
from tests.wire.messages.messages_shorthand import thinking as thought
from tests.wire.responses.any_responses import items_of_all_kinds, paired_items
from tests.wire.responses.odd_responses import as_odd_responses

MEMORIES = PlacedMemories((MemoryLine(MemoryVersion("m", 1), "Likes tea."),), 9)


def facts(message):
    return message.raw, message.joined, message.aside, message.loads


def written(found, cut, begun, recalled):
    """Return what is sent of a history: as it is, and folded at one of its cuts."""
    made = [found.fields(None, MEMORIES, [b"{}"]), found.fields(None, None, [b"{}"])]
    made.append(found.fields(None, MEMORIES, no_thinking_before=begun % (len(found.messages) + 1)))
    try:
        paired = history_of(list(found.messages))
    except BadRequest:
        return made
    if not paired.cuts:
        return made
    cut = paired.cuts[cut % len(paired.cuts)]
    border = paired.posted[cut]
    front = [KeptMessage(index) for index, _ in paired.system if index < border]
    kept = [
        KeptMessage(
            index, "recalled" * (index in recalled and found.messages[index].role == "user")
        )
        for index in range(border, len(found.messages))
    ]
    memory = MemoryText("so far", preamble(paired, 0, cut))
    answer = Answer(State.PACKED, True, (*front, memory, *kept), b"", 0, 0, 0, begun=begun)
    return [*made, found.fields(answer), found.fields(answer, MEMORIES, [b"{}"])]


def refusal_or(read):
    """Return what is read, else what cannot be."""
    try:
        return read()
    except BadRequest as error:
        return error.param, error.message


class Reader:
    """Reads bodies one after the other; each begins with one that was read before."""

    def __init__(self, name, read, known):
        self.name, self._read, self._known = name, read, known
        self._posted = []  # (raw items, canonical messages) of each body

    def read(self, fields, back, short):
        """From the one `back` bodies before on, without the last `short` common items; what is read
        must be what is read anew. None where it cannot be read."""
        body = json_body.split(json.dumps(fields).encode())
        raws = raw_items(body, self.name)
        anew = refusal_or(lambda: self._read(body, raws, None))
        earlier = None
        if self._posted:
            first, _ = self._posted[-1 - back % len(self._posted)]
            earlier = EarlierList(first.number, max(0, common(first, raws) - short))
        raws = replace(raws, earlier=earlier)
        found = refusal_or(lambda: self._read(body, raws, self._known))
        if isinstance(anew, tuple):
            assert found == anew
            return None
        self._posted.append((raws, found.messages))
        assert list(map(facts, found.messages)) == list(map(facts, anew.messages))
        assert found.messages.size == anew.messages.size
        assert found.messages.size == sum(len(message.raw) for message in anew.messages)
        loading = [at for at, message in enumerate(anew.messages) if message.loads]
        assert list(found.messages.loading) == loading
        if found.messages.earlier is not None:
            number, length = found.messages.earlier
            said = next(m for _, m in self._posted[:-1] if m.number == number)
            assert list(map(facts, found.messages[:length])) == list(map(facts, said[:length]))
        assert found.defined == anew.defined
        told = (found.tools_tokens, found.markers, found.passes, found.side)
        assert told == (anew.tools_tokens, anew.markers, anew.passes, anew.side)
        return found, anew


def common(one, other):
    """How many items two lists begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def responses_reader():
    cache = ItemCache(1)

    def read(body, raws, known):
        translated = cache if known is not None else ItemCache(1)
        return responses_history.read_items(body, lambda: raws, "t", translated, known)

    return Reader("input", read, KnownInputs())


def messages_reader():
    cache = TranslationCache(1)

    def read(body, raws, known):
        translated = cache if known is not None else TranslationCache(1)
        return messages_history.read_items(body, raws, "t", translated, known)

    return Reader("messages", read, KnownRequests())


ways = st.tuples(
    st.integers(0, 3),  # which body before
    st.sampled_from([0, 0, 0, 1, 2, 9]),  # common items that nobody knows to be common
    st.integers(0, 99),
    st.integers(0, 99),
    st.sets(st.integers(0, 40)),
)


@settings(deadline=None)
@given(
    st.integers(0, 99_999),
    st.integers(1, 9),
    st.sampled_from(["adaptive", "enabled"]),
    st.lists(ways, min_size=10, max_size=10),
)
def test_sessions_of_messages(seed, turns, thinking, drawn):
    session, reader = Session(seed, turns, 3, thinking), messages_reader()
    for back, short, *how in drawn:
        body = session.body()
        found, anew = reader.read(body, back, short)
        assert written(found, *how) == written(anew, *how)
        if session.goes_on:
            session.answer(body)


_ids = st.sampled_from("ab")
_asked = st.one_of(
    st.builds(text, st.sampled_from("xyz")),
    st.builds(lambda id_: result(id_, "r"), _ids),
    st.builds(lambda id_: result(id_, [{"type": "tool_reference", "tool_name": "n"}]), _ids),
)
_said = st.one_of(
    st.builds(text, st.sampled_from("xyz")),
    st.builds(lambda id_: called(id_, "n", {}), _ids),
    st.just(server_call("s")),
    st.just({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
    st.just(thought("t")),
)
_messages = st.one_of(
    st.builds(user, st.lists(_asked, max_size=3)),
    st.builds(lambda blocks: assistant(*blocks), st.lists(_said, max_size=3)),
    st.builds(lambda blocks: assistant(*blocks), st.lists(_said, max_size=3)),
    st.sampled_from(
        [
            {"role": "system", "content": "n"},
            {"role": "system", "content": [{"type": "tool_addition"}]},
            user([{"type": "compaction", "content": "c"}]),
        ]
    ),
)


def grown(talk, others):
    """A talk as it grows, then as it was edited in two places and grows again."""
    yield from (talk[:length] for length in range(1, len(talk) + 1))
    for at, other in others:
        edited = [*talk[:at], other, *talk[at + 1 :]]
        yield edited
        yield [*edited, *talk[-2:]]


def answered(talk):
    """Without results that answer no call."""
    calls, kept = set(), []
    for one in talk:
        if one["role"] == "assistant":
            calls = {block["id"] for block in one["content"] if block["type"] == "tool_use"}
        elif one["role"] == "user":
            blocks = [b for b in one["content"] if b.get("tool_use_id", "") in {"", *calls}]
            one = {**one, "content": blocks}
            calls = calls if blocks and all("tool_use_id" in b for b in blocks) else set()
        elif isinstance(one["content"], str):
            calls = set()
        kept.append(one)
    return kept


_talks = st.lists(_messages, min_size=1, max_size=9)


@settings(deadline=None)
@given(
    st.one_of(_talks, _talks.map(answered)),
    st.lists(st.tuples(st.integers(0, 8), _messages), max_size=2),
    st.lists(ways, min_size=1, max_size=5),
    st.lists(st.fixed_dictionaries({}, optional={
        "system": st.sampled_from(["s", "t"]),
        "thinking": st.just({"type": "enabled"}),
        "thread": st.just({"id": "t"}),
    }), min_size=1, max_size=4),
)  # fmt: skip
def test_any_messages(talk, others, drawn, more):
    reader = messages_reader()
    for number, posted in enumerate(grown(talk, others)):
        back, short, *how = drawn[number % len(drawn)]
        read = reader.read({"messages": posted, **more[number % len(more)]}, back, short)
        if read is not None:
            assert written(read[0], *how) == written(read[1], *how)


@settings(deadline=None)
@given(
    st.lists(st.one_of(paired_items, paired_items, items_of_all_kinds), min_size=2, max_size=14),
    st.lists(st.tuples(st.integers(0, 13), items_of_all_kinds), max_size=2),
    st.lists(ways, min_size=1, max_size=5),
    st.lists(st.sampled_from([{}, {}, {"instructions": "i"}]), min_size=1, max_size=4),
)
def test_any_items(items, others, drawn, more):
    reader = responses_reader()
    for number, posted in enumerate(grown(items, others)):
        back, short, *how = drawn[number % len(drawn)]
        read = reader.read({"input": posted, **more[number % len(more)]}, back, short)
        if read is not None:
            assert written(read[0], *how) == written(read[1], *how)


@settings(deadline=None)
@given(
    conversations,
    st.lists(ways, min_size=1, max_size=9),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 99)),
)
def test_conversations_of_items(talk, drawn, instructed, odd):
    reader = responses_reader()
    body = as_responses(talk) if odd is None else as_odd_responses(talk, odd)[0]
    items = body["input"]
    instructions = {"instructions": "i"} if instructed else {}
    for number in range(len(items)):
        back, short, *how = drawn[number % len(drawn)]
        read = reader.read({"input": items[: number + 1], **instructions}, back, short)
        if read is not None:
            assert written(read[0], *how) == written(read[1], *how)
