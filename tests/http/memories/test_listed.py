"""Memories of each kind as they are listed and searched for."""

from __future__ import annotations

from typing import Any

from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import MemorySource
from tests.contracts.memory_backends import new
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import (
    TYPESCRIPT,
    Agents,
    Asking,
    Chats,
    Filing,
    Users,
    each,
    error,
    serving,
    users,
    wrong,
)

EVERY, STORED = each(Users, Chats, Agents, Filing), each(Users, Chats, Agents)
PEOPLE = each(Users, Chats)
LEEDS, FRENCH = "User lives in Leeds", "Always answer in French"


@EVERY
async def test_all_that_there_are_the_newest_first_and_none_of_anybody_else(kind: type[Asking]):
    async with serving(kind) as of:
        ids = []
        for number in range(3):
            of.opened.clock.time += 60
            ids.append(await of.id_of(f"Fact number {number}"))
        page = await of.got("GET", of.LIST, params=of.named(""))
        assert [row["id"] for row in page.pop(of.ROWS)] == ids[::-1]
        about: dict[str, Any] = {"next_cursor": None, "total": 3, "groups": [], "success": True}
        fields = {Users: 3, Chats: 2, Agents: 4, Filing: 1}[kind]
        assert page == {name: about[name] for name in list(about)[:fields]}
        assert await of.rows("nobody") == []


@EVERY
async def test_pages_hold_each_memory_once(kind: type[Asking]):
    async with serving(kind) as of:
        ids = [await of.id_of(f"Fact number {number}") for number in range(7)]
        seen, query = [], {"limit": 3, **of.named("")}
        while True:
            page = await of.got("GET", of.LIST, params=query)
            assert len(page[of.ROWS]) <= 3
            seen += [row["id"] for row in page[of.ROWS]]
            await of.saved(f"A later one, after {len(seen)}")  # does not move the pages
            if (cursor := page["next_cursor"]) is None:
                break
            query["cursor"] = cursor
        assert seen == ids[::-1]
        # It opens nothing of anybody else.
        mine = await of.id_of("Something of my own", "c2")
        assert set(await of.ids("c2", cursor=f"{10**9}")) == {mine}


@PEOPLE
async def test_without_a_limit_everything_up_to_a_thousand(kind: type[Asking]):
    async with serving(kind) as of:
        facts = [new(f"Fact number {number}") for number in range(1_003)]
        await of.opened.store.add_many(of.scope(), facts)
        first = await of.got("GET", of.LIST)
        assert (len(first["memories"]), first["total"]) == (1_000, 1_003)
        rest = await of.got("GET", of.LIST, params={"cursor": first["next_cursor"]})
        assert [of.text(row) for row in rest["memories"]] == [f"Fact number {n}" for n in (2, 1, 0)]
        assert (rest["next_cursor"], rest["total"]) == (None, 1_003)
        for given, rows in (("1", 1), ("1000", 1_000)):
            assert len(await of.rows(limit=given)) == rows


@PEOPLE
async def test_filters(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        saved = await of.saved(LEEDS, tags=["home", "uk"])
        of.opened.clock.time += 86_400
        later = (await of.saved())["created_at"]
        draft = MemoryDraft(FRENCH, category="instruction", source_type="model", tainted=True)
        await of.book.save(of.scope(), draft)
        wanted: list[tuple[dict[str, Any], list[str]]] = [
            ({"category": "fact"}, [LEEDS]),
            ({"source_type": "model"}, [FRENCH]),
            ({"category": "instruction", "source_type": "user"}, []),
            ({"category": "preference", "source_type": "user"}, [TYPESCRIPT]),
            ({"tainted": "true"}, [FRENCH]),
            ({"tainted": "0"}, [TYPESCRIPT, LEEDS]),
        ]
        if kind is Users:
            wanted += [
                ({"tag": "home"}, [LEEDS]),
                ({"tags": "uk,Home"}, [LEEDS]),
                ({"tag": ["home", "x"]}, []),
                ({"source_type": "import"}, []),
                ({"created_before": later}, [LEEDS]),
                ({"created_from": later}, [FRENCH, TYPESCRIPT]),
                ({"created_from": saved["created_at"], "tainted": "0", "category": "preference"},
                 [TYPESCRIPT]),
            ]  # fmt: skip
        for query, texts in wanted:
            page = await of.got("GET", of.LIST, params=query)
            assert [of.text(row) for row in page["memories"]] == texts, query
            assert page["total"] == 3
            hits = await of.found("Leeds, TypeScript or French", limit=9, **query)
            assert {of.text(hit) for hit in hits} == set(texts), query


NUMBERS = ["two", "", "1.5", "0", "-5", "+2", "2000", "9" * 5_000]
CURSORS = ["", "x", "-1", "1.0", "9" * 19, "٣"]
QUERIES: dict[type[Asking], dict[str, list[str]]] = {
    Users: {
        "limit": NUMBERS, "cursor": CURSORS, "category": ["", "a\0"], "source_type": ["web"],
        "tag": ["x" * 33], "tainted": ["maybe"], "created_from": ["yesterday"],
        "created_before": ["2026-13-01"], "include": ["all"], "group_id": ["a b"],
        "kind": ["fact"], "threadId": ["fact"], "include_superseded": ["fact"],
        "threshold": ["x", "", "nan", "true", "-3", "1.01"], "query": ["", " \t"],
    },
    Chats: {
        "limit": NUMBERS, "cursor": CURSORS, "category": ["x"], "source_type": ["x"],
        "include": ["everything"], "query": ["", " \t"],
    },
    Filing: {
        "limit": ["many", "999999999999"], "cursor": ["x"], "threshold": ["high"],
        "query": ["", " "],
    },
}  # fmt: skip


@each(Users, Chats, Filing)
async def test_wrong_queries_are_named(kind: type[Asking]):
    async with serving(kind) as of:
        for name, values in QUERIES[kind].items():
            param = "tags[0]" if name == "tag" else name
            for value in values:
                if name not in ("query", "threshold"):
                    wrong(await of.ask("GET", of.LIST, params={name: value}), param)
                if name != "cursor" and (name, kind) != ("include", Chats):
                    query = {"query": "a", name: value}
                    wrong(await of.ask("GET", of.SEARCH, params=query), param)
        wrong(await of.ask("GET", of.SEARCH), "query")


@PEOPLE
async def test_deleted_and_expired_ones_are_shown_to_who_asks(kind: type[Asking]):
    async with serving(kind) as of:
        gone, _ = await of.id_of(LEEDS), await of.saved()
        await of.got("DELETE", f"{of.LIST}/{gone}", status=204 if kind is Chats else 200)
        assert await of.texts() == [TYPESCRIPT]
        rows = {of.text(row): row["deleted_at"] for row in await of.rows(include="deleted")}
        assert rows == {TYPESCRIPT: None, LEEDS: "1970-01-12T13:46:40.000Z"}
        if kind is Users:
            soon = await of.saved("The parcel comes on Monday", expires_at="1970-01-13")
            assert soon["expires_at"] == "1970-01-13T00:00:00.000Z"
            of.opened.clock.time += 86_400
            assert await of.texts() == [TYPESCRIPT]
            assert await of.ids(include="expired") == [soon["id"], (await of.ids())[0]]
            assert len(await of.rows(include="expired,deleted,superseded")) == 3


async def test_where_a_memory_comes_from_is_told():
    source = MemorySource("m1", 3, 9, "d1" * 16, "ad" * 16, "0a" * 16, 999_000.0)
    async with users() as of:
        draft = MemoryDraft(TYPESCRIPT, source_type="extraction", source=source)
        await of.book.save(of.scope(), draft)
        (row,) = await of.rows()
        assert row["conversation_id"] == "ad" * 16
        assert row["source"] == {
            "digest": "d1" * 16, "start": 3, "end": 9, "address": "ad" * 16, "origin": "0a" * 16,
            "recorded_at": "1970-01-12T13:30:00.000Z",
        }  # fmt: skip


# -- searching -------------------------------------------------------------------------------


@PEOPLE
async def test_a_search_ranks_by_relevance(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        for text in ("The office is in Graz", LEEDS, TYPESCRIPT):
            await of.saved(text)
        query = {"query": "Which language for new projects, TypeScript?"}
        answer = await of.got("GET", of.SEARCH, params=query)
        assert answer["degraded"] == []
        hits = answer["memories"]
        assert of.text(hits[0]) == TYPESCRIPT
        (row,) = [row for row in await of.rows() if row["id"] == hits[0]["id"]]
        assert {**row, "relevance": hits[0]["relevance"]} == hits[0]
        assert all(0 <= hit["relevance"] <= 1 for hit in hits)


@PEOPLE
async def test_a_search_gives_five_unless_it_is_told_otherwise(kind: type[Asking]):
    async with serving(kind) as of:
        for number in range(7):
            await of.saved(f"Fact number {number} of the office")
        assert len(await of.found("office")) == 5
        for limit, rows in ((1, 1), (6, 6), (100, 7)):
            assert len(await of.found("office", limit=limit)) == rows


async def test_a_search_has_a_threshold_and_looks_in_a_group():
    async with users(HashingEmbedder()) as of:
        tea = await of.id_of("User prefers tea in the morning")
        other = await of.id_of("User prefers coffee in the afternoon")
        group = await of.group("Drinks")
        await of.put(group["id"], other)
        (hit,) = await of.found("what does the user prefer?", group_id=group["id"])
        assert (hit["id"], hit["group_id"]) == (other, group["id"])
        ranked = await of.found("User prefers tea in the morning")
        assert [hit["id"] for hit in ranked] == [tea, other]
        assert await of.found("User prefers tea in the morning", threshold=0.99) == ranked[:1]
        assert await of.found("User prefers tea in the morning", threshold=0) == ranked
        for path in ("", "/search"):
            query = {"query": "a", "group_id": "grp_none"}
            query = query if path else {"group_id": "grp_none"}
            error(await of.ask("GET", path, params=query), 404, "not_found", "group_id")
