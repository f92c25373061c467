"""Check whom, what and when memories tell of, and how they are grouped."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from memtree.agents.agent_memory import PlacedRow, ScopeTotals, ScopeVersion
from memtree.agents.clusters import MOST as CLUSTERS_MOST
from memtree.agents.clusters import NEAR, ClusteredMemory, MemoryCluster, clusters, components, said
from memtree.agents.group_index import AT_ONCE, LARGE, NO_GROUP, GroupIndex
from memtree.agents.mentions import MOST, MOST_FIELDS, READ, mentions, named_in, when
from memtree.memories.memory import EntityMention, Memory
from memtree.memories.memory_store import SearchRow
from memtree.memories.search.vector_bytes import packed_terms
from tests.made.saved_memories import SCALE, TOPICS, TopicEmbedder

# ------------------------------------------------------------------------------------------------
# Whom and what a memory names.


def found(data: dict[str, object] | str) -> list[str]:
    """Names; those of persons with an exclamation mark."""
    given = {"text": data} if isinstance(data, str) else data
    return [one.name + "!" * (one.type == "person") for one in mentions(given)]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("User prefers TypeScript for new projects", ["TypeScript"]),
        ("We moved to New York with Blue Bottle Coffee", ["New York", "Blue Bottle Coffee"]),
        ("The account is at Bank of America", ["Bank of America"]),
        ("Likes tea. Drinks it hot! Always", []),
        ("Deploys happen on Friday in March", []),
        ("I think I'm fine, but My team is not", []),
        ("- Uses Kubernetes\n- Likes Redis\n3. Has Postgres", ["Kubernetes", "Redis", "Postgres"]),
        ("Grace Hopper wrote it. Later Grace left.", ["Grace Hopper", "Grace"]),
        ("NASA said so", ["NASA"]),
        ("It is Ada's laptop", ["Ada"]),
        ("Talked with Jean-Luc Picard, Worf and O'Brien", ["Jean-Luc Picard", "Worf", "O'Brien"]),
        ("Ich trinke gern Tee und mag Kaffee aus New York", ["New York"]),
    ],
)
def test_capitalised_words_that_begin_no_sentence(said, named):
    assert found(said) == named


@pytest.mark.parametrize(
    "said",
    [
        "I met my sister Ada Smith",
        "Has a sister named Ada Smith",
        "My boss is called Ada Smith",
        "Works with her best friend Ada Smith",
        "An appointment with Dr. Ada Smith",
        "Meine Schwester Ada Smith und ich",
        {"sister": "Ada Smith"},
        {"people": [{"manager": "Ada Smith"}]},
    ],
)
def test_persons_stand_behind_a_relation_or_a_title(said):
    assert found(said) == ["Ada Smith!"]


def test_without_that_nobody_is_a_person():
    assert found("Today I met Ada Smith. My sister came. Ada left") == ["Ada Smith"]
    assert found({"name": "Ada"}) == ["Ada"]


def test_a_name_that_is_a_persons_once_is_one():
    assert found("I called Ada. My sister Ada came") == ["Ada!"]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("write to bob@mail.example.org.", ["mail.example.org"]),
        ("see https://user:secret@docs.example.com/a/b?c=d", ["docs.example.com"]),
        ("follow @ada_l, please", ["@ada_l"]),
        (
            "edit src/app.py, /etc/hosts and C:\\Users\\x",
            ["src/app.py", "/etc/hosts", r"C:\Users\x"],
        ),
        ("open README.md or app.toml", ["README.md", "app.toml"]),
        ("call parse_row() in getUserName", ["parse_row", "getUserName"]),
        ("and/or, km/h, 12/03/2024, e.g., v1.2.3, 3.14", []),
        ("a@b, @, ://, /, \\", []),
    ],
)
def test_hosts_handles_paths_and_identifiers(said, named):
    assert found(said) == named


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"name": "Alice", "age": 30}, ["Alice"]),
        ({"topic": "AI agents"}, ["AI"]),
        ({"theme": "Dark", "favoriteColor": "blue", "done": True}, []),
        ({"place": {"city": "Graz"}, "tags": ["x", "Old Town"]}, ["Graz", "Old Town"]),
        ({}, []),
    ],
)
def test_values_of_data_are_read_beside_the_names_of_their_fields(data, named):
    assert found(data) == named


def test_what_is_read_and_said_is_bounded():
    assert len(found(" and ".join(f"the Name{at} x" for at in range(100)))) == MOST
    assert found("x " * READ + "my sister Ada") == []
    assert found(f"the {'A' * 500} and Ada") == ["Ada"]
    deep: object = "my sister Ada"
    for _ in range(30):
        deep = {"a": [deep]}
    assert found({"text": deep}) == ["Ada!"]


def test_what_its_maker_says_it_names_counts_alone():
    said = (EntityMention("User", "person"),)
    memory = Memory("m", 1, "Note: sister Ada, of Graz", 0.0, 0.0, mentions=said)
    assert named_in(memory) == said
    plain = Memory("m", 1, "Note: my sister Ada, of Graz", 0.0, 0.0)
    assert [one.name for one in named_in(plain)] == ["Ada", "Graz"]
    assert named_in(Memory("m", 1, "kind name Graz", 0.0, 0.0, data={"city": "Graz"})) == (
        EntityMention("Graz", "concept"),
    )


# ------------------------------------------------------------------------------------------------
# Topical clusters of memories.


TEXTS = (
    "The dog of Grace barks", "The staging port is 8090", "Grace walks the dog",
    "Likes green tea", "The production port is 443", "Grace feeds the dog at noon",
    "Black tea in the morning",
)  # fmt: skip


async def memories(texts=TEXTS, embedded=lambda _: True) -> list[ClusteredMemory]:
    rows = await TopicEmbedder().embed(texts)
    return [
        ClusteredMemory(str(at), text, row if embedded(at) else None)
        for at, (text, row) in enumerate(zip(texts, rows, strict=True))
    ]


EXPECTED = [
    MemoryCluster("dog", ("0", "2", "5")),
    MemoryCluster("port", ("1", "4")),
    MemoryCluster("tea", ("3", "6")),
]


async def test_what_is_near_belongs_together_and_has_the_name_of_what_is_typical():
    assert clusters(await memories(), SCALE) == EXPECTED


@pytest.mark.parametrize("embedded", [lambda _: False, lambda at: at % 2])
async def test_words_do_where_vectors_are_missing(embedded):
    for scale in (SCALE, None):
        found = clusters(await memories(embedded=embedded), scale)
        assert [one.memories for one in found] == [one.memories for one in EXPECTED]


async def test_what_is_alone_is_a_cluster_of_its_own():
    assert clusters(await memories(("Likes tea", "The port is 1")), SCALE) == [
        MemoryCluster("Likes", ("0",)),
        MemoryCluster("port", ("1",)),
    ]
    assert clusters([], SCALE) == []
    assert clusters([ClusteredMemory("a", "... 12")], None) == [MemoryCluster("", ("a",))]


async def test_two_clusters_have_two_names():
    rows = np.eye(4, dtype=np.float32)
    given = [ClusteredMemory(str(at), f"dog word{at % 4}", rows[at % 4]) for at in range(12)]
    labels = [one.label for one in clusters(given, SCALE)]
    assert len(labels) == len(set(labels)) == 4


def test_what_lies_between_two_topics_does_not_join_them():
    """It is near enough to all of both."""
    first, second = np.eye(3, dtype=np.float32)[:2]
    between = (first + second) / np.float32(np.sqrt(2))
    given = [ClusteredMemory(f"a{at}", "alpha", first) for at in range(8)]
    given += [ClusteredMemory(f"b{at}", "beta", second) for at in range(8)]
    given.append(ClusteredMemory("between", "alpha beta", between))
    assert SCALE.relevance(float(between @ second)) > NEAR
    assert [len(one.memories) for one in clusters(given, SCALE)] == [9, 8]


@pytest.mark.slow
def test_every_memory_is_in_one_cluster_whatever_is_given():
    rng = random.Random(3)
    for _ in range(20):
        count = rng.choice([1, 2, 5, 40, 200])
        vectors = np.random.default_rng(rng.randrange(99)).normal(size=(count, 8))
        vectors = (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float32)
        given = [
            ClusteredMemory(
                f"m{at}",
                " ".join(rng.sample(TOPICS, 2)),
                vectors[at] if rng.random() < 0.8 else None,
            )
            for at in range(count)
        ]
        found = clusters(given, rng.choice([SCALE, None]))
        ids = [id_ for one in found for id_ in one.memories]
        assert sorted(ids) == sorted(one.id for one in given)
        assert [len(one.memories) for one in found] == sorted(
            (len(one.memories) for one in found), reverse=True
        )
        assert clusters(given, SCALE) == clusters(list(given), SCALE)


async def test_of_more_than_that_the_first_count():
    found = clusters([ClusteredMemory(str(at), "dog") for at in range(CLUSTERS_MOST + 9)], None)
    assert sum(len(one.memories) for one in found) == CLUSTERS_MOST


def test_components_are_those_of_a_union_find():
    rng = random.Random(5)
    for count in (1, 2, 30, 120):
        links = np.zeros((count, count), np.bool_)
        parent = list(range(count))

        def root(at: int, parent: list[int] = parent) -> int:
            return at if parent[at] == at else root(parent[at])

        for _ in range(count // 2):
            one, other = rng.randrange(count), rng.randrange(count)
            links[one, other] = links[other, one] = True
            first, second = sorted((root(one), root(other)))
            parent[second] = first
        assert components(links).tolist() == [root(at) for at in range(count)]
    chain = np.eye(60, k=1, dtype=np.bool_) | np.eye(60, k=-1, dtype=np.bool_)
    assert not components(chain).any()


def test_names_of_fields_say_nothing():
    data = {"name": "Ada", "tags": ["x", {"y": "Grace"}], "age": 3, "done": True}
    assert said(data, "kind name Ada age") == "Ada x Grace"
    assert said(None, "text") == "text"


# ------------------------------------------------------------------------------------------------
# When what a memory tells of happens.


MORNING = 1_772_879_400.0  # 2026-03-07T10:30:00Z
DAY = 1_772_841_600.0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"when": "2026-03-07T10:30:00Z"}, MORNING),
        ({"starts_at": "2026-03-07 11:30+01:00"}, MORNING),
        ({"Due-Date": "2026-03-07"}, DAY),
        ({"title": "x", "deadline": "2026-03-07", "start": "2026-03-07T10:30Z"}, MORNING),
        ({"date": "next Friday", "due": "2026-03-07"}, DAY),
        ({"createdAt": "2026-03-07"}, None),
        ({"expiresAt": "2026-03-07"}, None),
        ({"date": 1_772_879_400}, None),
        ({"date": None}, None),
        ({"date": "2026-13-40"}, None),
        ({"date": "2026-03-07" + " " * 100}, None),
        ({"event": {"date": "2026-03-07"}}, None),
        ({"text": "On 2026-03-07"}, None),
        ({}, None),
        (None, None),
        ({**{f"f{at}": at for at in range(MOST_FIELDS)}, "date": "2026-03-07"}, None),
    ],
)
def test_a_field_of_the_data_says_it_in_iso_form(data, expected):
    assert when(None, data) == expected


def test_what_was_said_counts_more_than_a_field():
    assert when(1.0, {"date": "2026-03-07"}) == 1.0
    assert when(0.0, None) == 0.0


# ------------------------------------------------------------------------------------------------
# The index of many small scopes: what has to be read, and what stays.


def version(number: int, changed: int = 1, purges: int = 0, counted: int = 1) -> ScopeVersion:
    return ScopeVersion(number, f"agent{number}", "", changed, purges, counted)


def row(place: int, number: int, *, live: bool = True) -> PlacedRow:
    return PlacedRow(place, SearchRow(number, live, None, packed_terms(f"text {number}"), b"\1\2"))


def refreshed(
    index: GroupIndex, versions: list[ScopeVersion], rows: Sequence[PlacedRow] = ()
) -> GroupIndex:
    totals = ScopeTotals(changed=sum(one.changed for one in versions))
    return index.refreshed(totals, versions, index.reading(versions), rows)


def live(index: GroupIndex) -> list[int]:
    return sorted(index.index.numbers[index.index.live(0.0)].tolist())


def test_at_first_every_scope_that_holds_something_is_read():
    reading = NO_GROUP.reading([version(1), version(2, counted=0), version(3)])
    assert (reading.anew, dict(reading.changed), reading.dropped) == ((1, 3), {}, ())


def test_then_what_changed_after_the_last_time():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(2, 20)])
    reading = index.reading([version(1), version(2, changed=4), version(3)])
    assert (reading.anew, dict(reading.changed), reading.dropped) == ((3,), {2: 1}, ())
    versions = [version(1), version(2, changed=4), version(3)]
    index = refreshed(index, versions, [row(2, 20, live=False), row(2, 21), row(3, 30)])
    assert live(index) == [10, 21, 30]
    assert index.reading(versions) == NO_GROUP.reading([])


def test_where_rows_were_erased_the_scope_is_read_anew():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(1, 11), row(2, 20)])
    versions = [version(1, changed=2, purges=1), version(2)]
    reading = index.reading(versions)
    assert (reading.anew, reading.dropped) == ((1,), (1,))
    assert live(refreshed(index, versions, [row(1, 11)])) == [11, 20]
    emptied = [version(1, changed=2, purges=1, counted=0), version(2)]
    assert index.reading(emptied).anew == ()
    assert live(refreshed(index, emptied)) == [20]


def test_a_scope_that_grew_large_leaves_and_comes_back_when_it_is_half_as_large():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(2, 20)])
    grown = version(1, changed=2, counted=LARGE)
    index = refreshed(index, [grown, version(2)])
    assert (live(index), index.large) == ([20], (grown,))
    less = version(1, changed=3, counted=LARGE // 2)
    index = refreshed(index, [less, version(2)])
    assert (live(index), index.large) == ([20], (less,))
    small = version(1, changed=4, counted=LARGE // 2 - 1)
    assert index.reading([small, version(2)]).anew == (1,)
    assert live(refreshed(index, [small, version(2)], [row(1, 10)])) == [10, 20]


def test_many_that_changed_are_read_anew():
    many = [version(number) for number in range(1, AT_ONCE + 3)]
    index = refreshed(NO_GROUP, many, [row(number, number) for number in range(1, AT_ONCE + 3)])
    few = [version(one.number, changed=2) for one in many[:AT_ONCE]]
    assert len(index.reading([*few, *many[AT_ONCE:]]).changed) == AT_ONCE
    reading = index.reading([version(one.number, changed=2) for one in many])
    assert not reading.changed
    assert len(reading.anew) == len(reading.dropped) == len(many)


def test_each_row_knows_its_scope_and_bytes_are_counted():
    index = refreshed(NO_GROUP, [version(7), version(8)], [row(8, 3), row(7, 5), row(8, 9)])
    assert index.places_of(np.array([9, 3, 5], np.int32)).tolist() == [8, 8, 7]
    compact = index.compact()
    assert compact.index.outdated == 0
    assert live(compact) == [3, 5, 9]
    more = refreshed(index, [version(7, 2), version(8)], [row(7, at) for at in range(10, 90)])
    assert more.nbytes > index.nbytes > NO_GROUP.nbytes
