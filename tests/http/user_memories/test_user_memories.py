"""User memories over HTTP: making, listing, searching and changing them."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.book import MemoryRules
from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import CATEGORIES, USER_CATEGORIES, MemorySource
from memtree_proxy.http.request_body import PREFIXES
from tests.fakes import HashingEmbedder
from tests.http.owned.remembering import error
from tests.http.owned.user_memories import FIELDS, KEY, TYPESCRIPT, users

TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


# -- making ----------------------------------------------------------------------------------


async def test_a_memory_is_made_from_a_text():
    async with users() as of:
        answer = await of.ask("POST", json={"text": f" {TYPESCRIPT}\n", "tags": ["My Code"]})
        row = answer.json()
        assert answer.status_code == 201
        assert answer.headers["etag"] == '"1"'
        assert answer.headers["cache-control"] == "no-store"
        assert set(row) == FIELDS | {"possible_update_of"}
        assert row["id"].startswith("mem_")
        told = {
            "text": TYPESCRIPT, "category": "preference", "tags": ["my-code"], "version": 1,
            "source_type": "user", "tainted": False, "expires_at": None, "group_id": None,
            "group_title": None, "group_ids": [], "conversation_id": None, "source": None,
            "supersedes": None, "superseded_by": None, "deleted_at": None, "number": 1,
            "possible_update_of": [], "created_at": "1970-01-12T13:46:40.000Z",
        }  # fmt: skip
        assert {name: row[name] for name in told} == told
        (listed,) = await of.rows()
        assert listed == {name: row[name] for name in FIELDS}


@pytest.mark.parametrize("category", [*USER_CATEGORIES, "Reading list", "家族", "instruction"])
async def test_a_category_is_one_of_five_or_ones_own(category: str):
    async with users() as of:
        assert (await of.saved(category=category))["category"] == category
        assert await of.texts(category=category) == [TYPESCRIPT]
        assert await of.texts(category="other") == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (TYPESCRIPT, "preference"),
        ("Always answer in French.", "preference"),
        ("The staging port is 8090", "fact"),
        ("The project deadline is March 15, 2026", "schedule"),
    ],
)
async def test_a_category_is_inferred_when_absent(text: str, category: str):
    async with users() as of:
        assert (await of.saved(text, category=None))["category"] == category


async def test_what_is_there_already_is_answered():
    async with users(HashingEmbedder()) as of:
        row = await of.saved()
        again = await of.ask("POST", json={"text": TYPESCRIPT.upper() + "!"})
        assert (again.status_code, again.json()["id"]) == (200, row["id"])
        assert again.json()["possible_update_of"] == []
        assert await of.texts() == [TYPESCRIPT]


async def test_a_changed_value_is_stored_and_says_what_it_may_replace():
    async with users(HashingEmbedder()) as of:
        old = await of.saved("The staging server listens on port 8090")
        new = await of.saved("The staging server listens on port 8091")
        (update,) = new["possible_update_of"]
        assert set(update) == {"id", "text", "relevance", "differs"}
        assert (update["id"], update["differs"]) == (old["id"], ["8090 -> 8091"])
        assert len(await of.rows()) == 2


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({}, "text"),
        ({"text": None}, "text"),
        ({"text": 7}, "text"),
        ({"text": ["a"]}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "x" * 16_001}, "text"),
        ({"text": "a", "category": 7}, "category"),
        ({"text": "a", "category": ""}, "category"),
        ({"text": "a", "category": "x" * 65}, "category"),
        ({"text": "a", "category": "<b>"}, "category"),
        ({"text": "a", "tags": "b"}, "tags"),
        ({"text": "a", "tags": [7]}, "tags[0]"),
        ({"text": "a", "tags": ["x" * 33]}, "tags[0]"),
        ({"text": "a", "expires_at": 7}, "expires_at"),
        ({"text": "a", "expires_at": "soon"}, "expires_at"),
        ({"text": "a", "expires_at": "1970-01-02"}, "expires_at"),
        ({"conversation": [{"role": "user", "content": "I like tea"}]}, "conversation"),
        ({"memories": [{"kind": "a", "data": {}}]}, "memories"),
        ({"text": "a", "memories": []}, "memories"),
        ({"text": "a", "agentId": "helper"}, "text"),
        ({"text": "a", "subjectId": "someone"}, "text"),
    ],
)
async def test_what_is_wrong_with_a_new_memory_is_named(posted: dict[str, Any], field: str):
    async with users() as of:
        error(await of.ask("POST", json=posted), 400, "invalid_request", field)
        assert await of.rows() == []


@pytest.mark.parametrize("name", ["kind", "threadId", "include_superseded"])
@pytest.mark.parametrize("path", ["", "/search"])
async def test_a_filter_of_agents_is_not_left_out_in_silence(path: str, name: str):
    async with users() as of:
        asked = {"query": "tea"} if path else {}
        answer = await of.ask("GET", path, params={**asked, name: "fact"})
        error(answer, 400, "invalid_request", name)


async def test_a_secret_is_refused_by_its_kind():
    async with users() as of:
        for posted in ({"text": f"The key is {TOKEN}"}, {"text": "a", "category": TOKEN}):
            answer = await of.ask("POST", json=posted)
            assert (answer.status_code, TOKEN in answer.text) == (422, False)
            assert answer.json()["error"]["code"] == "secret_rejected"
        assert await of.rows() == []


async def test_agents_have_no_groups_and_no_settings():
    async with users() as of:
        await of.saved()
        for name in ("agentId", "subjectId"):
            for method, path, posted in (
                ("GET", "/groups", None), ("POST", "/groups", {"title": "Work"}),
                ("GET", "/settings", None), ("PATCH", "/settings", {"top_k": 3}),
                ("POST", "/extract", {"messages": [{"role": "user", "content": "I like tea"}]}),
            ):  # fmt: skip
                answer = await of.ask(method, path, params={name: "a"}, json=posted)
                message = error(answer, 400, "invalid_request", name)
                assert message.startswith(f"{name} is not a known query parameter")
                if posted:
                    answer = await of.ask(method, path, json={**posted, name: "a"})
                    error(answer, 400, "invalid_request", name)
        assert await of.texts() == [TYPESCRIPT]


# -- listing ---------------------------------------------------------------------------------


async def test_the_list_holds_memories_and_groups():
    async with users() as of:
        assert await of.got("GET") == {
            "memories": [], "groups": [], "next_cursor": None, "total": 0,
        }  # fmt: skip
        first, second = await of.saved("User lives in Leeds"), await of.saved()
        group = await of.group("Programming Preferences", category="preference")
        await of.put(group["id"], second["id"])
        shown = await of.got("GET")
        assert [row["id"] for row in shown["memories"]] == [second["id"], first["id"]]
        assert (shown["total"], shown["next_cursor"]) == (2, None)
        member, other = shown["memories"]
        assert (member["group_id"], member["group_title"]) == (
            group["id"], "Programming Preferences",
        )  # fmt: skip
        assert (other["group_id"], other["group_title"], other["group_ids"]) == (None, None, [])
        assert shown["groups"] == [{**group, "member_count": 1}]


async def test_a_row_shows_the_group_that_was_asked_for():
    async with users() as of:
        row = await of.saved()
        await of.saved("User lives in Leeds")
        groups = []
        for title in ("One", "Two", "Three"):
            of.opened.clock.time += 1
            groups.append(await of.group(title))
        for group in groups[1::-1]:
            await of.put(group["id"], row["id"])
        both = [groups[0]["id"], groups[1]["id"]]
        for group in groups[:2]:
            shown = await of.got("GET", params={"group_id": group["id"]})
            (one,) = shown["memories"]
            assert (one["group_id"], one["group_title"]) == (group["id"], group["title"])
            assert one["group_ids"] == both
            assert len(shown["groups"]) == 3
        assert await of.texts(group_id=groups[2]["id"]) == []
        assert [one["group_id"] for one in await of.rows()] == [None, groups[0]["id"]]
        unknown = await of.ask("GET", params={"group_id": "grp_none"})
        error(unknown, 404, "not_found", "group_id")


async def test_pages_of_a_thousand():
    async with users() as of:
        drafts = [MemoryDraft(f"Fact number {n}") for n in range(1_003)]
        for draft in drafts:
            await of.book.save(of.scope(), draft)
        first = await of.got("GET")
        assert (len(first["memories"]), first["total"]) == (1_000, 1_003)
        rest = await of.got("GET", params={"cursor": first["next_cursor"]})
        assert [row["text"] for row in rest["memories"]] == [f"Fact number {n}" for n in (2, 1, 0)]
        assert (rest["next_cursor"], rest["total"]) == (None, 1_003)
        for given, rows in (("1", 1), ("7", 7), ("1000", 1_000)):
            assert len(await of.rows(limit=given)) == rows


async def test_filters():
    async with users() as of:
        day = 86_400
        first = await of.saved("User lives in Leeds", tags=["home", "uk"])
        of.opened.clock.time += day
        second = await of.saved()
        model = MemoryDraft("Always answer in French", "instruction", source_type="model")
        await of.book.save(of.scope(), model)
        wanted = {
            (("category", "fact"),): ["User lives in Leeds"],
            (("tag", "home"),): ["User lives in Leeds"],
            (("tags", "uk,Home"),): ["User lives in Leeds"],
            (("tag", "home"), ("tag", "x")): [],
            (("source_type", "model"),): ["Always answer in French"],
            (("source_type", "import"),): [],
            (("tainted", "true"),): ["Always answer in French"],
            (("tainted", "0"),): [TYPESCRIPT, "User lives in Leeds"],
            (("created_before", second["created_at"]),): ["User lives in Leeds"],
            (("created_from", second["created_at"]),): ["Always answer in French", TYPESCRIPT],
            (("created_from", first["created_at"]), ("tainted", "0"), ("category", "preference")):
                [TYPESCRIPT],
        }  # fmt: skip
        for query, texts in wanted.items():
            answer = await of.got("GET", params=list(query))
            assert [row["text"] for row in answer["memories"]] == texts, query
            assert answer["total"] == 3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "x"}, "limit"),
        ({"limit": "1.5"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"category": ""}, "category"),
        ({"category": "a\0"}, "category"),
        ({"source_type": "web"}, "source_type"),
        ({"tag": "x" * 33}, "tags[0]"),
        ({"tainted": "maybe"}, "tainted"),
        ({"created_from": "yesterday"}, "created_from"),
        ({"created_before": "2026-13-01"}, "created_before"),
        ({"include": "all"}, "include"),
        ({"group_id": "a b"}, "group_id"),
    ],
)
async def test_wrong_queries_are_named(query: dict[str, str], field: str):
    async with users() as of:
        error(await of.ask("GET", params=query), 400, "invalid_request", field)
        if field != "cursor":
            query = {"query": "a", **query}
            error(await of.ask("GET", "/search", params=query), 400, "invalid_request", field)


async def test_expired_and_deleted_ones_are_shown_to_who_asks():
    async with users() as of:
        soon = await of.saved("The parcel comes on Monday", expires_at="1970-01-13")
        assert soon["expires_at"] == "1970-01-13T00:00:00.000Z"
        gone = await of.saved("User lives in Leeds")
        await of.saved()
        await of.got("DELETE", f"/{gone['id']}")
        of.opened.clock.time += 86_400
        assert await of.texts() == [TYPESCRIPT]
        assert await of.texts(include="expired") == [TYPESCRIPT, "The parcel comes on Monday"]
        everything = await of.rows(include="expired,deleted,superseded")
        assert [row["text"] for row in everything] == [
            TYPESCRIPT, "User lives in Leeds", "The parcel comes on Monday",
        ]  # fmt: skip
        assert [bool(row["deleted_at"]) for row in everything] == [False, True, False]


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


async def test_a_search_ranks_by_relevance():
    async with users(HashingEmbedder()) as of:
        await of.saved("User lives in Leeds")
        await of.saved()
        hits = await of.found("Which language for new projects, TypeScript?")
        assert hits[0]["text"] == TYPESCRIPT
        assert set(hits[0]) == FIELDS | {"relevance"}
        assert 0 <= hits[0]["relevance"] <= 1
        assert len(await of.found("projects in Leeds", limit=1)) == 1


async def test_a_search_has_filters_and_a_threshold():
    async with users(HashingEmbedder()) as of:
        row = await of.saved("User prefers tea in the morning", tags=["drinks"])
        other = await of.saved("User prefers coffee in the afternoon", category="drinking")
        group = await of.group("Drinks")
        await of.put(group["id"], other["id"])
        ask = "what does the user prefer to drink?"
        ids = {"tag": "drinks"}, {"tags": "drinks"}, {"tainted": "false", "tag": "drinks"}
        for given in ids:
            assert [hit["id"] for hit in await of.found(ask, **given)] == [row["id"]]
        (hit,) = await of.found(ask, group_id=group["id"])
        assert (hit["id"], hit["group_id"]) == (other["id"], group["id"])
        (hit,) = await of.found(ask, category="drinking")
        assert hit["id"] == other["id"]
        ranked = await of.found("User prefers tea in the morning")
        assert [hit["id"] for hit in ranked] == [row["id"], other["id"]]
        assert await of.found("User prefers tea in the morning", threshold=0.99) == ranked[:1]
        assert await of.found("User prefers tea in the morning", threshold=0) == ranked
        unknown = await of.ask("GET", "/search", params={"query": ask, "group_id": "grp_none"})
        error(unknown, 404, "not_found", "group_id")


@pytest.mark.parametrize("threshold", ["x", "", "nan", "true", "-3", "1.01"])
async def test_a_threshold_that_is_no_number(threshold: str):
    async with users() as of:
        answer = await of.ask("GET", "/search", params={"query": "a", "threshold": threshold})
        error(answer, 400, "invalid_request", "threshold")


@pytest.mark.parametrize("query", [None, "", " \n"])
async def test_a_search_needs_a_query(query: str | None):
    async with users() as of:
        answer = await of.ask("GET", "/search", params={"query": query} if query else {})
        error(answer, 400, "invalid_request", "query")


# -- where they stand ------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_every_route_stands_under_every_prefix(prefix: str):
    async with users() as of:
        ask = of.client.request
        made = await ask("POST", f"{prefix}/memories", headers=KEY, json={"text": TYPESCRIPT})
        id_ = made.json()["id"]
        group = await ask("POST", f"{prefix}/memories/groups", headers=KEY, json={"title": "A"})
        at = f"{prefix}/memories/groups/{group.json()['id']}"
        answers = [
            await ask("GET", f"{prefix}/memories", headers=KEY),
            await ask("GET", f"{prefix}/memories/search", headers=KEY, params={"query": "a"}),
            await ask("GET", f"{prefix}/memories/settings", headers=KEY),
            await ask("GET", f"{prefix}/memories/groups", headers=KEY),
            await ask("GET", f"{prefix}/memories/tombstones", headers=KEY),
            await ask("POST", f"{prefix}/memories/undelete", headers=KEY, json={"ids": [id_]}),
            await ask("POST", f"{prefix}/memories/{id_}/confirm", headers=KEY),
            await ask("GET", f"{prefix}/memories/{id_}/history", headers=KEY),
            await ask("POST", f"{at}/memories", headers=KEY, json={"memory_ids": [id_]}),
            await ask("DELETE", f"{at}/memories/{id_}", headers=KEY),
            await ask("DELETE", at, headers=KEY),
            await ask("DELETE", f"{prefix}/memories/{id_}", headers=KEY),
        ]  # fmt: skip
        assert {answer.status_code for answer in answers} == {200}
        below = await ask("GET", f"{prefix}/memories/{id_}/nothing", headers=KEY)
        assert below.status_code == 404
        wrong = await ask("PUT", f"{prefix}/memories", headers=KEY)
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")


async def test_the_limit_of_a_tenant():
    async with users(rules=MemoryRules(most=1)) as of:
        await of.saved()
        answer = await of.ask("POST", json={"text": "User lives in Leeds"})
        error(answer, 409, "memory_limit", None)


def test_chat_categories_are_another_set():
    """An instruction is a category of chats; of a user it is a preference."""
    assert set(CATEGORIES) - set(USER_CATEGORIES) == {"instruction"}
