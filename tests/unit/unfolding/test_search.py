"""Check what was folded, searched and read: verbatim, labelled, within its size, and without a
write."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memtree.context.answer_details import FoldedReader
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree.text import tokens
from memtree.text.own_lines import ELSEWHERE
from memtree.unfolding import folded_history
from memtree.unfolding.folded_history import LEAST, NO_ROOM, READ_TOKENS, RECORD, SEARCH_TOKENS
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat, coding

pytestmark = pytest.mark.slow  # some seconds in all

FACT = "The crane of the harbour opens with KX-4471, said the foreman."
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at":"pier"}'}}


class Spied:
    """A store that tells what of it was called."""

    def __init__(self) -> None:
        self.inner: Any = open_store("memory:")
        self.called: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.called.append(name)
        return getattr(self.inner, name)


def history() -> list[dict[str, Any]]:
    """A system message, then 300 messages; the fact in number 7, a call in 10 and its result in 11,
    an image in 13, a message of some 9,000 tokens in 15, and another system message in 17."""
    said = chat(300, words=60)
    said[6] = {"role": "user", "content": FACT}
    said[9:11] = [{"role": "assistant", "content": None, "tool_calls": [CALL]},
                  {"role": "tool", "tool_call_id": "c", "content": "two boats"}]  # fmt: skip
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    said[12] = {"role": "user", "content": [{"type": "text", "text": "See this:"}, picture]}
    said[14] = {"role": "user", "content": " ".join(f"word{n}" for n in range(3_000))}
    said[16] = {"role": "system", "content": "in the middle"}
    asked = {"role": "user", "content": "Thanks. And what about the garden?"}
    return [{"role": "system", "content": "be brief"}, *said, asked]


async def folded(
    posted: list[dict[str, Any]] | None = None,
    store: Any = None,
    mode: str = "stable",
    **fields: Any,
) -> FoldedReader:
    kept = store or open_store("memory:")
    memory = ContextMemory(kept, StageOne(child=False), NoQueue(), SystemClock(), **fields)
    messages = tuple(Message.of(one) for one in posted or history())
    answer = await compressed(memory, CompressRequest("t", messages, target=6_000, mode=mode))
    assert answer.details.folded is not None
    return answer.details.folded


SHARED: list[FoldedReader] = []


async def usual() -> FoldedReader:
    """Return what `folded()` gives: made once, since no reader changes."""
    if not SHARED:
        SHARED.append(await folded())
    return SHARED[0]


def quoted(text: str) -> list[tuple[int, str]]:
    """(number, text) of each excerpt."""
    found = re.findall(r"^¶(\d+) \w+[^\n]*\n(.*?)(?=^¶|^\[cut|\Z)", text, re.M | re.S)
    return [(int(number), said.strip()) for number, said in found]


# ---------------------------------------------------------------- search


@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_a_search_finds_what_was_folded(mode: str):
    found = await (await folded(mode=mode)).search("how does the crane of the harbour open?")
    assert RECORD in found
    assert f"¶7 user\n{FACT}" in found


async def test_excerpts_are_verbatim_and_from_before_the_cut():
    posted, one = history(), await usual()
    excerpts = quoted(await one.search("garden letter window 77", 20))
    assert len(excerpts) > 5
    cut = one.folded.posted.posted[one.folded.plan.cut]
    for number, text in excerpts:
        content = posted[number]["content"]
        assert number < cut
        for piece in text.split("[...]"):
            assert piece.strip() in content


@pytest.mark.parametrize("room", [LEAST, 300, SEARCH_TOKENS, 100_000])
@pytest.mark.parametrize("query", ["garden letter", "word17 word2500", "crane"])
async def test_a_search_keeps_to_its_room(room: int, query: str):
    found = await (await usual()).search(query, 20, room)
    assert tokens.count(found) <= min(room, SEARCH_TOKENS)


@pytest.mark.parametrize(("asked", "most"), [(-1, 1), (0, 1), (3, 3), (999, 20)])
async def test_as_many_excerpts_as_asked_for(asked: int, most: int):
    found = quoted(await (await usual()).search("garden letter window market", asked))
    assert 0 < len(found) <= most


async def test_what_the_model_sees_already_comes_last():
    one = await usual()
    shown = {one.folded.posted.posted[span.message] for span in one.folded.plan.excerpts}
    query = " ".join(history()[max(shown)]["content"].split()[-9:])  # with a number of its own
    found = [number for number, _ in quoted(await one.search(query, 3))]
    assert len(found) == 3
    assert shown.isdisjoint(found)


async def test_what_is_sent_as_it_is_is_not_found():
    one = await usual()
    kept = one.folded.posted.posted[one.folded.plan.cut]
    found = [number for number, _ in quoted(await one.search(history()[kept]["content"], 20))]
    assert found
    assert max(found) < kept


async def test_what_does_not_fit_with_its_labels_is_left_out(monkeypatch: pytest.MonkeyPatch):
    one = await usual()
    few = quoted(await one.search("garden letter window", 20, 600))
    monkeypatch.setattr(folded_history, "WRAPPER", -300)
    found = await one.search("garden letter window", 20, 600)
    assert tokens.count(found) <= 600
    assert len(quoted(found)) >= len(few)


async def test_headlines_tell_of_other_places():
    found = await (await folded([*coding(40_000), history()[-1]])).search("SHOP-105", 2)
    _, headlines = found.split(f"¶ {ELSEWHERE}")
    assert 1 <= len(headlines.strip().splitlines()) <= 5
    assert all(re.match(r"- ¶\d+(-\d+)? \S", line) for line in headlines.strip().splitlines())


async def test_a_search_without_a_hit_says_so():
    assert "Nothing was found" in await (await usual()).search("zzyzx qqqq")
    one = await folded(embedder=HashingEmbedder())
    assert "Nothing was found" in await one.search("...")


async def test_no_room_is_said():
    one = await usual()
    assert await one.search("crane", room=LEAST - 1) == NO_ROOM
    assert one.read(7, room=LEAST - 1) == NO_ROOM


async def test_the_store_is_neither_written_nor_read():
    store = Spied()
    one = await folded(store=store, embedder=HashingEmbedder())
    assert store.called
    store.called.clear()
    assert FACT in await one.search("crane of the harbour")
    one.read(1, 300)
    assert store.called == []


async def test_a_deletion_in_between_leaves_nothing_at_hand():
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    messages = tuple(Message.of(one) for one in history())
    answer = await compressed(memory, CompressRequest("t", messages, target=6_000))
    reader = answer.details.folded
    assert reader
    await memory.forget_tenant("t")
    assert FACT in await reader.search("crane of the harbour"), "the request carries it"
    assert memory.cached_tenants == set()


# ---------------------------------------------------------------- read


async def test_messages_are_read_as_they_were_posted():
    lines = (await usual()).read(7, 13).splitlines()
    assert RECORD in lines[0]
    assert lines[1:3] == ["¶7 user", FACT]
    text = "\n".join(lines)
    assert '¶10 assistant\n\nlook {"at":"pier"}' in text
    assert "¶11 tool\ntwo boats" in text
    assert text.endswith("¶13 user\nSee this:\n[image]")


async def test_a_long_message_is_read_in_pieces_that_add_up():
    one, posted = await usual(), history()
    text, start, steps = "", 0, 0
    while True:
        found = one.read(15, start=start)
        assert tokens.count(found) <= READ_TOKENS
        body = found.split("¶15 user\n", 1)[1]
        piece, cut, hint = body.partition("\n¶ cut here; the rest: first=15, start=")
        text, steps = text + piece, steps + 1
        if not cut:
            break
        assert int(hint) == len(text)
        start = len(text)
    assert text == posted[15]["content"]
    assert steps > 1


async def test_many_messages_are_read_on_where_they_were_cut():
    one, numbers, first, steps = await usual(), [], 18, 0
    start = ""
    while first:
        found = one.read(first, 60, int(start or 0), room=500)
        assert tokens.count(found) <= 500
        numbers += [number for number, _ in quoted(found)]
        hint = re.search(r"the rest: first=(\d+)(?:, last=60)?(?:, start=(\d+))?\Z", found)
        first, start = (int(hint[1]), hint[2]) if hint else (0, "")
        steps += 1
        assert steps < 60
    assert sorted(set(numbers)) == list(range(18, 61))


@pytest.mark.parametrize(
    ("first", "last", "start", "said"),
    [
        (0, None, 0, "Message 0 is a system message"),
        (17, None, 0, "Message 17 is a system message"),
        (302, None, 0, "there is no message 302; the last one is 301"),
        (-1, None, 0, "must not be negative"),
        (5, 4, 0, "nor `last` below `first`"),
        (7, None, -1, "must not be negative"),
        (7, None, 62, "message 7 has 62 characters"),
    ],
)
async def test_what_cannot_be_read_is_said(first, last, start, said):
    assert said in (await usual()).read(first, last, start)


async def test_a_range_passes_over_system_messages_and_the_end():
    one = await usual()
    assert [number for number, _ in quoted(one.read(16, 18))] == [16, 18]
    assert quoted(one.read(301, 999))[0][0] == 301


async def test_only_answers_that_folded_can_be_searched():
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    for posted in (history()[-5:], history()):
        messages = tuple(Message.of(one) for one in posted)
        answer = await compressed(memory, CompressRequest("t", messages, target=40_000))
        assert answer.details.folded is None
