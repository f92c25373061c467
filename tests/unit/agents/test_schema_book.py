"""Schemas as a tenant keeps them, and fields that are unique."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents.memory_schema import KEY_BYTES, MAX_SCHEMAS, MemorySchema, canonical, unique_key
from memtree.agents.schema_book import CompiledSchemas, SchemaBook, SchemaChange
from memtree.errors import (
    BadRequest,
    Conflict,
    NotFound,
    SchemaInvalid,
    SchemaViolation,
    SecretRejected,
    VersionConflict,
)
from memtree.stores import Memories, RamStore, open_memories

# ------------------------------------------------------------------------------------------------
# Schemas as a tenant keeps them, and its data held against them.


TENANT = "tenant"
PROFILE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
TEXT = json.dumps(PROFILE)


class Clock:
    time = 1_700_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Memories:
    return open_memories(RamStore())


@pytest.fixture
def book(store: Memories, clock: Clock) -> SchemaBook:
    return SchemaBook(store, clock)


async def checked(
    book: SchemaBook, kind: str, data: Mapping[str, Any], name: str = "memories[0]"
) -> MemorySchema | None:
    return (await book.check(TENANT, [(kind, data, name)]))[0]


# -- schemas


async def test_a_schema_is_kept_as_it_was_written(book, clock):
    put = await book.put(TENANT, "UserProfile", TEXT, ["name"], "Who the user is.")
    assert put.created
    assert put.schema == MemorySchema(
        "UserProfile", TEXT, ("name",), "Who the user is.", clock.time, clock.time
    )
    assert await book.get(TENANT, "UserProfile") == put.schema
    assert await book.list(TENANT) == [put.schema]
    assert await book.list("another") == []


async def test_it_takes_the_place_of_the_one_before(book, clock):
    await book.put(TENANT, "UserProfile", TEXT, ["name"], "Who.")
    clock.time += 60
    put = await book.put(TENANT, "UserProfile", {"type": "object"})
    assert not put.created
    assert put.schema == MemorySchema(
        "UserProfile", '{"type":"object"}', (), "", clock.time - 60, clock.time
    )


async def test_to_create_it_again_changes_nothing(book, clock):
    first = await book.create(TENANT, "UserProfile", TEXT, ["name"], "Who.")
    clock.time += 60
    again = await book.create(TENANT, "UserProfile", TEXT, ["name"], "Who.")
    assert (first.created, again.created) == (True, False)
    assert again.schema == first.schema
    with pytest.raises(Conflict, match="PATCH"):
        await book.create(TENANT, "UserProfile", TEXT, ["age"], "Who.")


async def test_of_two_that_create_it_at_once_one_is_told_of_the_other(book):
    texts = [TEXT, '{"type":"object"}', '{"properties":{}}']
    made = await asyncio.gather(
        *(book.create(TENANT, "UserProfile", text) for text in texts), return_exceptions=True
    )
    assert sum(isinstance(one, Conflict) for one in made) == 2
    (first,) = [one for one in made if not isinstance(one, BaseException)]
    assert first.created
    assert await book.list(TENANT) == [first.schema]


async def test_a_change_leaves_what_it_does_not_name(book):
    await book.put(TENANT, "UserProfile", TEXT, ["name"], "Who.")
    changed = await book.change(TENANT, "UserProfile", SchemaChange(unique_on=["age"]))
    assert (changed.document, changed.unique_on, changed.description) == (TEXT, ("age",), "Who.")
    changed = await book.change(TENANT, "UserProfile", SchemaChange(description=""))
    assert (changed.unique_on, changed.description) == (("age",), "")
    with pytest.raises(SchemaInvalid, match="uniqueOn"):
        await book.change(TENANT, "UserProfile", SchemaChange(document={"type": "object"}))
    assert (await book.get(TENANT, "UserProfile")).document == TEXT


async def test_changes_at_once_leave_what_they_do_not_name(book):
    await book.put(TENANT, "UserProfile", TEXT, (), "Who.")
    document = json.loads(TEXT) | {"title": "A user"}
    await asyncio.gather(
        book.change(TENANT, "UserProfile", SchemaChange(unique_on=["age"])),
        book.change(TENANT, "UserProfile", SchemaChange(description="They.")),
        book.change(TENANT, "UserProfile", SchemaChange(document=document)),
    )
    kept = await book.get(TENANT, "UserProfile")
    assert (json.loads(kept.document), kept.unique_on) == (document, ("age",))
    assert kept.description == "They."


async def test_a_change_makes_none_anew_that_is_deleted_meanwhile(store, clock):
    class DeletedOnceRead(SchemaBook):
        async def get(self, tenant: str, kind: str) -> MemorySchema:
            found = await super().get(tenant, kind)
            await self.delete(tenant, kind)
            return found

    book = SchemaBook(store, clock)
    await book.put(TENANT, "UserProfile", TEXT)
    with pytest.raises(NotFound):
        await DeletedOnceRead(store, clock).change(
            TENANT, "UserProfile", SchemaChange(description="They.")
        )
    assert await book.list(TENANT) == []


@pytest.mark.parametrize("conflicts", [19, 20])
async def test_a_change_is_tried_twenty_times(book, store, conflicts):
    """Others change the schema meanwhile, each time anew."""
    await book.put(TENANT, "UserProfile", TEXT)
    put, tries = store.put_schema, []

    async def contended(*args: Any, **options: Any) -> bool:
        tries.append(args)
        if len(tries) <= conflicts:
            raise VersionConflict("It was changed meanwhile.")
        return await put(*args, **options)

    store.put_schema = contended
    change = book.change(TENANT, "UserProfile", SchemaChange(description="They."))
    if conflicts < 20:
        await change
    else:
        with pytest.raises(VersionConflict):
            await change
    assert len(tries) == 20
    kept = await book.get(TENANT, "UserProfile")
    assert kept.description == ("They." if conflicts < 20 else "")


async def test_one_that_is_not_there(book):
    await book.put(TENANT, "UserProfile", TEXT)
    with pytest.raises(NotFound, match="The nearest is UserProfile"):
        await book.get(TENANT, "userprofile")
    with pytest.raises(NotFound):
        await book.change("another", "UserProfile", SchemaChange(description="x"))
    assert not await book.delete(TENANT, "Other")
    assert await book.delete(TENANT, "UserProfile")
    assert not await book.delete(TENANT, "UserProfile")


async def test_a_tenant_has_fifty(book):
    for at in range(MAX_SCHEMAS):
        await book.put(TENANT, f"Kind{at}", TEXT)
    with pytest.raises(Conflict):
        await book.put(TENANT, "OneMore", TEXT)
    await book.put(TENANT, "Kind7", TEXT, ["name"])
    await book.put("another", "OneMore", TEXT)


async def test_nothing_is_kept_of_what_is_refused(book):
    for kind, document, error in (
        ("User Profile", TEXT, BadRequest),
        ("UserProfile", "{}", SchemaInvalid),
        ("UserProfile", '{"type":"object","properties":{"a":{"type":"x"}}}', SchemaInvalid),
        ("UserProfile", '{"type":"object","properties":{"a":{"pattern":"(?=a)"}}}', SchemaInvalid),
    ):
        with pytest.raises(error):
            await book.put(TENANT, kind, document)
    with pytest.raises(BadRequest, match="description"):
        await book.put(TENANT, "UserProfile", TEXT, (), "x" * 2_001)
    assert await book.list(TENANT) == []


async def test_a_description_holds_no_secret(book):
    with pytest.raises(SecretRejected) as caught:
        await book.put(TENANT, "UserProfile", TEXT, (), "Use ghp_" + "a1B2c3" * 6)
    assert caught.value.param == "description"
    assert "ghp_" not in caught.value.message


# -- data


async def test_data_keeps_to_the_schema_of_its_kind(book):
    put = await book.put(TENANT, "UserProfile", TEXT, ["name"])
    assert await checked(book, "UserProfile", {"name": "Ada", "age": 36}) == put.schema
    with pytest.raises(SchemaViolation) as caught:
        await checked(book, "UserProfile", {"name": "Ada", "age": "old"}, "memories[2]")
    assert caught.value.message == "memories[2].data.age: must be integer"
    assert caught.value.param == "memories[2].data.age"


async def test_the_first_that_does_not_is_named(book):
    await book.put(TENANT, "UserProfile", TEXT)
    items = [
        ("UserProfile", {"name": name}, f"memories[{at}]") for at, name in enumerate(["a", 1, 2])
    ]
    with pytest.raises(SchemaViolation, match=r"^memories\[1\]\.data\.name: must be string$"):
        await book.check(TENANT, items)
    found = await book.violations(TENANT, items)
    assert [error is None for _, error in found] == [True, False, False]


async def test_many_large_memories_of_one_request(book):
    """More than the event loop does itself."""
    await book.put(TENANT, "UserProfile", TEXT)
    wide = {f"f{at}": at for at in range(1_000)}
    items = [("UserProfile", {"name": "Ada", **wide}, f"memories[{at}]") for at in range(50)]
    assert len(await book.check(TENANT, items)) == 50
    items[40] = ("UserProfile", {"name": 7, **wide}, "memories[40]")
    with pytest.raises(SchemaViolation, match=r"^memories\[40\]\.data\.name: must be string$"):
        await book.check(TENANT, items)


async def test_data_that_stands_alone(book):
    await book.put(TENANT, "UserProfile", TEXT)
    with pytest.raises(SchemaViolation, match=r"^data\.name: must be string$"):
        await checked(book, "UserProfile", {"name": 7}, "")
    with pytest.raises(SchemaViolation, match=r"^kind: there is no schema"):
        await checked(book, "Other", {}, "")


async def test_without_any_schema_every_kind_is_free(book):
    assert await checked(book, "Anything", {"whatever": 1}) is None
    with pytest.raises(BadRequest, match=r"memories\[0\]\.kind"):
        await checked(book, "no name", {})


async def test_with_one_every_kind_needs_one(book):
    await book.put(TENANT, "UserProfile", TEXT)
    with pytest.raises(SchemaViolation) as caught:
        await checked(book, "userProfil", {"name": "Ada"})
    assert caught.value.param == "memories[0].kind"
    assert caught.value.message == (
        "memories[0].kind: there is no schema of this kind. The nearest is UserProfile."
    )
    assert await book.check("another", [("userProfil", {}, "")]) == [None]


async def test_a_strict_server_wants_one_always(store, clock):
    strict = SchemaBook(store, clock, strict=True)
    with pytest.raises(SchemaViolation, match="there is no schema of this kind"):
        await checked(strict, "Anything", {})


async def test_a_change_in_another_process_holds_at_once(store, clock):
    ours, theirs = SchemaBook(store, clock), SchemaBook(store, clock)
    await ours.put(TENANT, "UserProfile", TEXT)
    assert await checked(ours, "UserProfile", {"name": "Ada"})
    await theirs.put(TENANT, "UserProfile", TEXT.replace("string", "integer"))
    with pytest.raises(SchemaViolation):
        await checked(ours, "UserProfile", {"name": "Ada"})
    await theirs.delete(TENANT, "UserProfile")
    assert await checked(ours, "UserProfile", {"name": "Ada"}) is None


# --


def schema(title: str) -> MemorySchema:
    return MemorySchema("Kind", '{"type":"object","title":"' + title + '"}')


async def test_a_schema_is_compiled_once():
    cache = CompiledSchemas()
    first = await cache.of("tenant", schema("a"))
    assert await cache.of("tenant", schema("a")) is first
    assert await cache.of("tenant", schema("b")) is not first
    assert await cache.of("another", schema("a")) is not first
    assert len(cache) == 3


async def test_the_one_that_was_used_longest_ago_goes_first():
    cache = CompiledSchemas(entries=2)
    first = await cache.of("tenant", schema("a"))
    second = await cache.of("tenant", schema("b"))
    assert await cache.of("tenant", schema("a")) is first
    await cache.of("tenant", schema("c"))
    assert len(cache) == 2
    assert await cache.of("tenant", schema("a")) is first
    assert await cache.of("tenant", schema("b")) is not second


async def test_long_schemas_leave_room_for_fewer():
    cache = CompiledSchemas(size=1_000)
    for letter in "abcdef":
        await cache.of("tenant", schema(letter * 300))
    assert len(cache) == 3
    await cache.of("tenant", schema("x" * 5_000))
    assert len(cache) == 1


# ------------------------------------------------------------------------------------------------
# Unique on.


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def key(data: dict[str, Any], *names: str, kind: str = "Person") -> bytes:
    return unique_key(MemorySchema(kind, "{}", names), data)


def test_the_values_make_the_key():
    ada = key({"name": "Ada", "age": 36}, "name")
    assert len(ada) == KEY_BYTES
    assert ada == key({"age": 37, "name": "Ada"}, "name")
    assert ada != key({"name": "Bob"}, "name")
    assert ada != key({"name": "Ada"}, "name", kind="Pet")
    assert ada != key({"name": "ada"}, "name")


def test_nothing_is_unique_without_names():
    assert key({"name": "Ada"}) == b""


@pytest.mark.parametrize("data", [{}, {"name": "Ada"}, {"name": "Ada", "city": None}])
def test_a_field_that_is_missing_or_null_is_not_unique(data):
    assert key(data, "name", "city") == b""


def test_the_name_kind_means_one_of_its_kind():
    assert key({"a": 1}, "kind") == key({"kind": "x"}, "kind") != b""
    assert key({"a": 1}, "kind", "a") == key({"a": 1}, "a") != key({"a": 2}, "kind", "a")


def test_the_order_of_names_means_nothing():
    data = {"a": "x", "b": "y"}
    assert key(data, "a", "b") == key(data, "b", "a") != key({"a": "y", "b": "x"}, "a", "b")


def test_names_and_values_do_not_run_together():
    assert key({"a": "x", "b": "y"}, "a", "b") != key({"a": 'x","b","y'}, "a")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        (100, 1e2),
        (2**63, float(2**63)),
        ("\xe9", "e\u0301"),
        ({"\xe9": 1}, {"e\u0301": 1}),
        ({"a": 1, "b": [1, {"c": 2, "d": 3}]}, {"b": [1.0, {"d": 3, "c": 2}], "a": 1}),
        ([], ()),
    ],
)
def test_equal_values(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (None, "null"),
        ([1, 2], [2, 1]),
        ([], {}),
        (2**53, 2**53 + 1),
        (0.1, 0.10000000000000002),
        ("a", "A"),
        ("\ufb01", "fi"),
    ],
)
def test_different_values(one, other):
    assert canonical(one) != canonical(other)


@given(JSON)
def test_a_value_that_was_sent_is_the_same_value(value):
    assert canonical(json.loads(json.dumps(value))) == canonical(value)


@given(JSON, JSON)
def test_texts_that_are_equal_mean_equal_values(one, other):
    if canonical(one) == canonical(other):
        assert json.loads(canonical(one)) == json.loads(canonical(other))
