"""Check what a search finds, and how long it waits for vectors."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable
from memtree.memories.memory import MemoryChange, NewMemory
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.search.query import PATIENCE, Backgrounds, QueryVectors
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import packed_terms
from memtree.stores import open_memories, open_store
from tests.fakes import HashingEmbedder
from tests.made.saved_memories import TopicEmbedder, embed, rewrite, save

# ------------------------------------------------------------------------------------------------
# Check what a search finds and says, over memories in RAM.


SCOPE = Scope.of_chat("acme", "c1")
TOPICS = TopicEmbedder()


@pytest.fixture
async def store():
    opened = open_store("memory:")
    yield open_memories(opened)
    await opened.close()


@pytest.fixture
def search(store):
    return MemorySearch(store, TopicEmbedder(), now=lambda: 10.0)


async def found(search: MemorySearch, query: str, scope: Scope = SCOPE, **options) -> list[str]:
    return [hit.memory.text for hit in (await search.search(scope, query, **options)).hits]


async def test_words_and_meaning_find(store, search):
    await save(store, SCOPE, "The staging port is 8090", TOPICS)
    await save(store, SCOPE, "Likes green tea", TOPICS)
    result = await search.search(SCOPE, "which port?")
    assert [hit.memory.text for hit in result.hits] == ["The staging port is 8090"]
    assert result.hits[0].relevance > 0.95
    assert result.degraded == ()


async def test_nothing_is_found_where_nothing_is(search):
    assert await found(search, "port") == []


async def test_a_change_is_seen_at_once(store, search):
    memory = await save(store, SCOPE, "The port is 8090", TOPICS)
    assert await found(search, "port") == ["The port is 8090"]
    await rewrite(store, SCOPE, memory.id, "The tea is green", TOPICS)
    assert await found(search, "port") == []
    assert await found(search, "tea") == ["The tea is green"]
    await store.delete(SCOPE, [memory.id])
    assert await found(search, "tea") == []
    await store.undelete(SCOPE, [memory.id])
    assert await found(search, "tea") == ["The tea is green"]


async def test_after_a_purge_what_was_erased_is_nowhere(store, search):
    memory = await save(store, SCOPE, "The port is 8090", TOPICS)
    await save(store, SCOPE, "The port is 8091", TOPICS)
    assert len(await found(search, "port")) == 2
    await store.delete(SCOPE, [memory.id], purge=True)
    assert await found(search, "port") == ["The port is 8091"]


async def test_what_expired_is_not_found(store):
    now = 10.0
    search = MemorySearch(store, TopicEmbedder(), now=lambda: now)
    await save(store, SCOPE, "The port is 8090", TOPICS, expires=4e9)
    assert await found(search, "port") == ["The port is 8090"]
    now = 4e9
    assert await found(search, "port") == []


async def test_a_filter_holds_before_the_limit(store, search):
    for at in range(10):
        await save(store, SCOPE, f"The port is {at}", TOPICS, category="fact")
    await save(store, SCOPE, "Even port numbers with tea", TOPICS, category="preference")
    wanted = MemoryFilter(category="preference")
    assert await found(search, "port", wanted=wanted, limit=1) == ["Even port numbers with tea"]


async def test_only_what_is_relevant_enough(store, search):
    await save(store, SCOPE, "port", TOPICS)
    await save(store, SCOPE, "port tea holiday rent", TOPICS)
    both = await search.search(SCOPE, "port")
    relevant = {hit.memory.text: hit.relevance > 0.8 for hit in both.hits}
    assert relevant == {"port": True, "port tea holiday rent": False}
    assert await found(search, "port", least=0.8) == ["port"]


@pytest.mark.parametrize("limit", [0, 1, 3])
async def test_no_more_than_the_limit(store, search, limit):
    for at in range(5):
        await save(store, SCOPE, f"The port is {at}", TOPICS)
    assert len(await found(search, "port", limit=limit)) == limit


async def test_without_a_vector_words_rank_and_it_is_said(store, search):
    memory = await save(store, SCOPE, "The port is 8090")
    result = await search.search(SCOPE, "port")
    assert result.hits[0].relevance == 0.75
    assert result.degraded == ("embedder",)
    await embed(store, SCOPE, memory, TOPICS)
    result = await search.search(SCOPE, "port")
    assert result.hits[0].relevance > 0.95
    assert result.degraded == ()


@pytest.mark.parametrize("trouble", [{"fails": True}, {"seconds": 60.0}])
async def test_an_embedder_that_fails_or_is_slow_is_done_without(store, trouble):
    await save(store, SCOPE, "The port is 8090", TOPICS)
    search = MemorySearch(store, TopicEmbedder(**trouble), now=lambda: 10.0)
    result = await search.search(SCOPE, "port", patience=0.01)
    assert [hit.memory.text for hit in result.hits] == ["The port is 8090"]
    assert result.degraded == ("embedder",)


async def test_without_an_embedder_words_are_all_there_is(store):
    await save(store, SCOPE, "The port is 8090", TOPICS)
    result = await MemorySearch(store, None, now=lambda: 10.0).search(SCOPE, "port")
    assert [hit.memory.text for hit in result.hits] == ["The port is 8090"]
    assert result.degraded == ()


async def test_another_embedder_starts_with_words(store):
    memory = await save(store, SCOPE, "The port is 8090", TOPICS)
    other = TopicEmbedder(recipe="new")
    search = MemorySearch(store, other, now=lambda: 10.0)
    result = await search.search(SCOPE, "port")
    assert result.hits[0].relevance == 0.75
    assert result.degraded == ("embedder",)
    await embed(store, SCOPE, memory, other)
    assert (await search.search(SCOPE, "port")).degraded == ()


@pytest.mark.slow
async def test_what_all_memories_say_does_not_decide_the_meaning(store):
    """Ada is in each of them: what the question says beside her counts."""
    embedder = TopicEmbedder()
    search = MemorySearch(store, embedder, now=lambda: 10.0)
    for at in range(60):
        await save(store, SCOPE, f"Ada {at}", TOPICS)
    await save(store, SCOPE, "Ada has a train and tea and rent and a holiday", TOPICS)
    assert (await found(search, "Ada and a train"))[0].startswith("Ada has a train")
    assert sorted(embedder.asked) == ["Ada and a train", "and a train"]


async def test_of_two_memories_alone_the_newer_version_comes_first(store):
    await save(store, SCOPE, "The port is 8090.", TOPICS)
    await save(store, SCOPE, "The port is 8091 today.", TOPICS)  # longer: words rank it below
    search = MemorySearch(store, None, now=lambda: 10.0)
    newer, older = await found(search, "which port is it")
    assert (newer, older) == ("The port is 8091 today.", "The port is 8090.")


async def test_what_the_named_speaker_said_comes_first(store, search):
    for at in range(6):
        await save(store, SCOPE, f"Grace: the tea is {at}", TOPICS)
        await save(store, SCOPE, f"Ada: the tea is {at}, Grace", TOPICS)
    first = await found(search, "Which tea does Grace like?", limit=6)
    assert all(text.startswith("Grace:") for text in first)


@pytest.mark.slow
async def test_scopes_see_nothing_of_each_other(store, search):
    """Each scope holds a word of its own beside a common one."""
    scopes = [
        Scope.of_chat("acme", "c1"),
        Scope.of_chat("acme", "c2"),
        Scope.of_chat("other", "c1"),
        Scope.of_user("acme", "c1"),
        Scope.of_user("acme"),
        Scope.of_agent("acme", "c1"),
        Scope.of_agent("acme", "c1", "s1"),
        Scope.of_agent("acme", "c1", "s2"),
    ]
    for at, scope in enumerate(scopes):
        await save(store, scope, f"port canary{at}", TOPICS, id=f"mem_{at}")
    for _ in range(2):
        for at, scope in enumerate(scopes):
            assert await found(search, "port", scope) == [f"port canary{at}"]
            rows = await search.embed(["port"], None)
            near = await search.neighbours(scope, "port", rows[0])
            assert [hit.memory.text for hit in near.hits] == [f"port canary{at}"]


async def test_neighbours_by_vector_and_by_words(store, search):
    await save(store, SCOPE, "The port is 8090", TOPICS)
    await save(store, SCOPE, "Likes green tea", TOPICS)
    rows = await search.embed(["Our port"], None)
    near = await search.neighbours(SCOPE, "Our port", rows[0])
    assert [hit.memory.text for hit in near.hits] == ["The port is 8090"]
    assert near.hits[0].relevance > 0.95
    assert not near.by_words
    words = await search.neighbours(SCOPE, "port", None)
    assert words.by_words
    assert [hit.memory.text for hit in words.hits] == ["The port is 8090"]


async def test_a_tenant_that_is_forgotten_is_read_anew(store, search):
    await save(store, SCOPE, "The port is 8090", TOPICS)
    await found(search, "port")
    assert search.index_bytes > 0
    search.forget("acme")
    assert search.index_bytes == 0
    assert await found(search, "port") == ["The port is 8090"]


async def test_a_change_that_leaves_the_text_shows(store, search):
    memory = await save(store, SCOPE, "The port is 8090", TOPICS)
    await found(search, "port")
    await store.change(SCOPE, memory.id, MemoryChange(2.0, category="fact"))
    (hit,) = (await search.search(SCOPE, "port")).hits
    assert (hit.memory.category, hit.memory.version) == ("fact", 2)


async def test_what_counts_no_more_is_found_where_it_is_asked_for(store, search):
    old = await save(store, SCOPE, "The port is 8090", TOPICS)
    gone = await save(store, SCOPE, "The port was 1", TOPICS)
    await save(store, SCOPE, "The port may be 2", TOPICS, expires=1.0)
    new = NewMemory("mem_new", "The port is 8091", b"n" * 16, packed_terms("The port is 8091"), 2.0)
    await store.supersede(SCOPE, old.id, new, "")
    await store.delete(SCOPE, [gone.id])
    assert await found(search, "port") == ["The port is 8091"]
    for option, text in (
        ("superseded", "The port is 8090"),
        ("deleted", "The port was 1"),
        ("expired", "The port may be 2"),
    ):
        past = await found(search, "port", wanted=MemoryFilter(**{option: True}))
        assert sorted(past) == sorted(["The port is 8091", text])
    assert await found(search, "port") == ["The port is 8091"]


async def test_a_long_text_is_embedded_as_a_passage_and_a_short_one_as_a_query(search):
    """An embedder of queries reads only the beginning of a long text."""

    class Halves(TopicEmbedder):
        async def embed_query(self, text):
            return await super().embed_query(text[:126])

    halves = MemorySearch(None, Halves(), now=lambda: 0.0)  # type: ignore[arg-type]
    text = "tea" + 200 * " " + "port"
    assert (await halves.embed([text], None)).tolist() == (await TOPICS.embed([text])).tolist()


async def test_of_two_queries_the_better_counts_for_each_memory(store, search):
    await save(store, SCOPE, "The staging port is 8090", TOPICS)
    await save(store, SCOPE, "Likes green tea", TOPICS)
    ports, teas = await found(search, "which port?"), await found(search, "which tea?")
    both = (await search.search(SCOPE, ["which port?", "which tea?"])).hits
    assert {hit.memory.text for hit in both} == {*ports, *teas}
    assert min(hit.relevance for hit in both) > 0.95
    assert await found(search, ["which port?", "which port?"]) == ports


# ------------------------------------------------------------------------------------------------
# How long a request waits for vectors, and from when on.


SECONDS = 5.0


class Loading(HashingEmbedder):
    """`at`: when its model was loaded, by the event loop's time; `error` is raised instead."""

    def __init__(self, seconds: float = 0.05, error: Exception | None = None) -> None:
        super().__init__()
        self.seconds, self.error = seconds, error
        self.at = 0.0
        self.asked = 0

    async def ready(self) -> None:
        self.asked += 1
        if self.error:
            raise self.error
        await asyncio.sleep(self.seconds)
        self.at = asyncio.get_running_loop().time()


async def test_the_time_begins_when_the_model_is_loaded():
    embedder = Loading()
    until = await QueryVectors(embedder).until(SECONDS)
    assert embedder.at
    assert until is not None
    assert until >= embedder.at + SECONDS


@pytest.mark.parametrize("embedder", [Loading(error=EmbedderUnavailable("no")), Loading(600.0)])
async def test_for_a_model_that_cannot_be_loaded_nobody_waits_on(embedder: Loading):
    loop = asyncio.get_running_loop()
    until = await QueryVectors(embedder).until(SECONDS, loading=0.01)
    assert embedder.asked == 1
    assert until is not None
    assert until <= loop.time()


@pytest.mark.parametrize("patience", [None, 0.0])
async def test_who_waits_for_ever_or_not_at_all_does_not_ask(patience: float | None):
    embedder = Loading()
    until = await QueryVectors(embedder).until(patience)
    assert embedder.asked == 0
    assert (until is None) is (patience is None)


async def test_who_goes_away_while_the_model_is_loaded_does():
    waiting = asyncio.create_task(QueryVectors(Loading(600.0)).until(SECONDS))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_the_setting_says_what_holds_without_one():
    assert Settings().embedding_seconds == PATIENCE


# -- Backgrounds are embedded once, when they are first asked for, and nobody waits long.


class Wide(HashingEmbedder):
    """Embedder of so many dimensions that a background serves. `gate`: what it waits for."""

    dimensions = 256
    recipe = "wide/1"

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.gate, self.broken = 0, asyncio.Event(), False
        self.gate.set()

    async def embed(self, texts):
        self.calls += 1
        await self.gate.wait()
        if self.broken:
            raise EmbedderUnavailable("down")
        rows = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dimensions))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def reads(self, text: str) -> bool:
        return "я" not in text


async def test_each_language_is_embedded_once() -> None:
    embedder = Wide()
    backgrounds = Backgrounds(embedder)
    first = await asyncio.gather(*(backgrounds.of("de", None) for _ in range(3)))
    assert first[0] is not None
    assert first[0] is first[1] is first[2] is await backgrounds.of("de", None)
    assert embedder.calls == 1
    assert await backgrounds.of("fr", None) is not first[0]
    embedder.recipe = "wide/2"
    assert await backgrounds.of("de", None) is not first[0]
    await backgrounds.close()


async def test_nobody_waits_longer_than_for_a_vector_and_it_is_there_the_next_time() -> None:
    embedder = Wide()
    embedder.gate.clear()
    vectors = QueryVectors(embedder)
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    now = asyncio.get_running_loop().time()
    german = await vectors.query("Wo ist mein Hund?", row, now)
    assert german.vector is None  # its cosines would mean nothing
    english = await vectors.query("Where is my dog?", row, now)
    assert english.vector is row
    assert english.background is None
    embedder.gate.set()
    german = await vectors.query("Wo ist mein Hund?", row, None)
    assert german.vector is row
    assert german.background is not None
    await vectors.close()


async def test_what_the_embedder_cannot_read_has_no_vector() -> None:
    embedder = Wide()
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    query = await QueryVectors(embedder).query("Где моя собака?", row, None)
    assert query.vector is None
    assert query.moved is None
    assert query.terms
    assert embedder.calls == 0


async def test_an_embedder_that_fails_is_asked_again() -> None:
    embedder = Wide()
    embedder.broken = True
    backgrounds = Backgrounds(embedder)
    assert await backgrounds.of("de", None) is None
    embedder.broken = False
    assert await backgrounds.of("de", None) is not None


async def test_closing_ends_what_is_being_embedded() -> None:
    embedder = Wide()
    embedder.gate.clear()
    backgrounds = Backgrounds(embedder)
    assert await backgrounds.of("de", asyncio.get_running_loop().time()) is None
    await backgrounds.close()
    assert embedder.calls <= 1


async def test_vectors_of_few_numbers_have_nothing_to_spare() -> None:
    embedder = HashingEmbedder()
    row = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    query = await QueryVectors(embedder).query("Wo ist mein Hund?", row, None)
    assert query.vector is row
    assert query.background is None
