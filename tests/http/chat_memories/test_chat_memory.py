"""The routes of chat memory: each endpoint, field, default, status and error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.memories.book import MemoryRules
from memtree.memories.draft import MemoryDraft
from memtree_proxy.wire.chat_memories import MAX_MESSAGE_ID
from tests.fakes import HashingEmbedder
from tests.http.owned.remembering import DEADLINE, FIELDS, KEY, error, remembering
from tests.unit.memories.books import MoodyEmbedder

LONG = "x" * 16_000
KEY_LINE = "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


# -- POST /chat/api/{chatId}/memory ----------------------------------------------------------


async def test_a_memory_is_made_from_a_message():
    async with remembering() as chat:
        answer = await chat.post()
    row = answer.json()
    assert answer.status_code == 201
    assert (answer.headers["etag"], answer.headers["cache-control"]) == ('"1"', "no-store")
    assert set(row) == FIELDS | {"possible_update_of"}
    assert row["id"].startswith("mem_")
    assert row == {
        "id": row["id"],
        "content": DEADLINE,
        "category": "fact",
        "source_type": "user",
        "created_at": "1970-01-12T13:46:40.000Z",
        "updated_at": "1970-01-12T13:46:40.000Z",
        "expires_at": None,
        "deleted_at": None,
        "last_confirmed_at": "1970-01-12T13:46:40.000Z",
        "tags": [],
        "message_id": "msg_abc123",
        "tainted": False,
        "state": "live",
        "standing": False,
        "twins": [],
        "version": 1,
        "possible_update_of": [],
    }


@pytest.mark.parametrize(
    ("content", "category"),
    [
        ("User prefers responses in bullet-point format", "preference"),
        (DEADLINE, "fact"),
        ("Always include code examples in Python", "instruction"),
    ],
)
async def test_the_category_is_inferred_when_absent(content: str, category: str):
    async with remembering() as chat:
        assert (await chat.saved(content))["category"] == category
        assert (await chat.saved(content, "c2", category=None))["category"] == category
        other = await chat.saved(content, "c3", category="instruction")
        assert other["category"] == "instruction"
        assert not other["tainted"]  # a person said so


async def test_tags_are_kept_in_one_form():
    async with remembering() as chat:
        row = await chat.saved(tags=[" Family  Trip ", "family-trip", "Köln"])
    assert row["tags"] == ["family-trip", "köln"]


@pytest.mark.parametrize("same", [DEADLINE, "the project  deadline is march 15, 2026."])
async def test_a_duplicate_is_answered_with_the_existing_one(same: str):
    async with remembering() as chat:
        row = await chat.saved()
        answer = await chat.post(same, messageId="another")
        assert (answer.status_code, answer.json()) == (200, row)
        assert answer.headers["etag"] == '"1"'
        assert await chat.texts() == [DEADLINE]


async def test_near_duplicates_by_meaning_are_not_stored_twice():
    async with remembering(HashingEmbedder()) as chat:
        row = await chat.saved("The office of the team is in Graz")
        answer = await chat.post("In Graz is the office of the team")
        assert (answer.status_code, answer.json()["id"]) == (200, row["id"])


async def test_a_changed_value_is_stored_and_says_what_it_may_replace():
    async with remembering() as chat:
        old = await chat.saved("The staging server listens on port 8090")
        new = await chat.saved("The staging server listens on port 8091")
        (update,) = new["possible_update_of"]
        assert len(await chat.texts()) == 2
    assert 0 <= update.pop("relevance") <= 1
    assert update == {"id": old["id"], "content": old["content"], "differs": ["8090 -> 8091"]}


async def test_concurrent_posts_of_one_text_make_one_memory():
    async with remembering(HashingEmbedder()) as chat:
        answers = await asyncio.gather(*(chat.post() for _ in range(20)))
        assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert len(await chat.rows()) == 1


async def test_an_embedder_that_fails_loses_no_memory():
    moody = MoodyEmbedder()
    moody.down = True
    async with remembering(moody) as chat:
        row = await chat.saved()
        assert (row["dedup"], row["degraded"]) == ("deferred", ["embedder"])
        found = await chat.ask("GET", "/memories/search", params={"query": "project deadline"})
        assert found.json()["degraded"] == ["embedder"]
        assert [hit["id"] for hit in found.json()["memories"]] == [row["id"]]
        assert (await chat.post()).json()["id"] == row["id"]  # by its words


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"messageId": None}, "messageId"),
    ({"messageId": ""}, "messageId"),
    ({"messageId": 5}, "messageId"),
    ({"messageId": "m" * (MAX_MESSAGE_ID + 1)}, "messageId"),
    ({"messageId": "a\0b"}, "messageId"),
    ({"content": None}, "content"),
    ({"content": ""}, "content"),
    ({"content": " \n\t"}, "content"),
    ({"content": ["text"]}, "content"),
    ({"content": {"text": "a"}}, "content"),
    ({"content": LONG + "y"}, "content"),
    ({"content": "a\0b"}, "content"),
    ({"category": "schedule"}, "category"),
    ({"category": 1}, "category"),
    ({"category": ["fact"]}, "category"),
    ({"tags": "one"}, "tags"),
    ({"tags": [1]}, "tags[0]"),
    ({"tags": ["x" * 33]}, "tags[0]"),
    ({"tags": [str(n) for n in range(33)]}, "tags"),
]


@pytest.mark.parametrize(("fields", "param"), WRONG)
async def test_what_is_wrong_with_a_new_memory_is_named(fields: dict[str, Any], param: str):
    async with remembering() as chat:
        message = error(await chat.post(**fields), 400, "invalid_request", param)
        assert param.partition("[")[0] in message
        assert await chat.rows() == []


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b'{"content": "a"}', "messageId"),
        (b'{"messageId": "a"}', "content"),
        (b"[]", None),
        (b"", None),
        (b'{"messageId": "a", "content": "a", "content": "b"}', "content"),
        (b'{"messageId": "a", "content": "\\ud800"}', "content"),
        (b'{"messageId": "a", "content": "\xff"}', "content"),
        (b'{"messageId": "a", "content": %s}' % (b"[" * 50_000 + b"]" * 50_000), None),
    ],
)
async def test_bodies_that_cannot_be_read(body: bytes, param: str | None):
    headers = {"content-type": "application/json"}
    async with remembering() as chat:
        answer = await chat.ask("POST", "/memory", content=body, headers=headers)
        if param is None:
            assert answer.status_code == 400
        else:
            error(answer, 400, "invalid_request", param)


async def test_a_content_of_the_largest_size_is_kept_whole():
    async with remembering() as chat:
        assert (await chat.saved(LONG))["content"] == LONG
    async with remembering(max_text_chars=10) as chat:
        error(await chat.post("x" * 11), 400, "invalid_request", "content")


async def test_a_secret_is_refused_by_its_kind():
    async with remembering() as chat:
        for answer in (
            await chat.post(KEY_LINE),
            await chat.ask(
                "PATCH", f"/memories/{(await chat.saved())['id']}", json={"content": KEY_LINE}
            ),
        ):
            message = error(answer, 422, "secret_rejected", "content")
            assert "API key" in message
            assert "abcdef" not in answer.text
        assert await chat.texts() == [DEADLINE]


# -- GET /chat/api/{chatId}/memories ---------------------------------------------------------


async def test_all_memories_the_newest_first():
    async with remembering() as chat:
        for number in range(3):
            chat.opened.clock.time += 60
            await chat.saved(f"Fact number {number}")
        answer = await chat.ask("GET", "/memories")
    shown = answer.json()
    assert [row["content"] for row in shown["memories"]] == [f"Fact number {n}" for n in (2, 1, 0)]
    assert set(shown) == {"memories", "next_cursor", "total"}
    assert (shown["next_cursor"], shown["total"]) == (None, 3)
    assert set(shown["memories"][0]) == FIELDS
    times = [row["created_at"] for row in shown["memories"]]
    assert times == sorted(times, reverse=True)


async def test_an_unknown_chat_is_an_empty_list():
    async with remembering() as chat:
        await chat.saved()
        shown = (await chat.ask("GET", "/memories", "nobody")).json()
    assert shown == {"memories": [], "next_cursor": None, "total": 0}


async def test_pages_hold_each_memory_once():
    async with remembering() as chat:
        for number in range(7):
            await chat.saved(f"Fact number {number}")
        seen, cursor = [], None
        while True:
            query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = (await chat.ask("GET", "/memories", params=query)).json()
            assert len(page["memories"]) <= 3
            seen += [row["content"] for row in page["memories"]]
            await chat.saved(f"A later one, after {len(seen)}")  # does not move the pages
            cursor = page["next_cursor"]
            if cursor is None:
                break
    assert seen == [f"Fact number {number}" for number in reversed(range(7))]


@pytest.mark.slow
@pytest.mark.long
async def test_without_a_limit_everything_up_to_a_thousand():
    async with remembering() as chat:
        for number in range(1_001):
            await chat.book.save(chat.scope(), MemoryDraft(f"Fact {number} stands alone"))
        for query in ({}, {"limit": 1_000}):
            page = (await chat.ask("GET", "/memories", params=query)).json()
            assert (len(page["memories"]), page["total"]) == (1_000, 1_001)
            assert page["next_cursor"]


async def test_filters():
    async with remembering() as chat:
        await chat.saved("User prefers tea", category="preference")
        await chat.saved("The office is in Graz", category="fact")
        await chat.book.save(
            chat.scope(),
            MemoryDraft("User prefers cocoa", category="preference", source_type="model"),
        )
        assert await chat.texts(category="preference") == ["User prefers cocoa", "User prefers tea"]
        assert await chat.texts(source_type="model") == ["User prefers cocoa"]
        assert await chat.texts(category="preference", source_type="user") == ["User prefers tea"]
        assert await chat.texts(category="instruction") == []
        found = await chat.found("what does the user prefer", source_type="model")
        assert [row["content"] for row in found] == ["User prefers cocoa"]


@pytest.mark.parametrize(("limit", "count"), [("1", 1), ("2", 2), ("100", 3)])
async def test_a_limit(limit: str, count: int):
    async with remembering() as chat:
        for number in range(3):
            await chat.saved(f"Fact number {number}")
        assert len(await chat.rows(limit=limit)) == count
        assert len(await chat.found("fact", limit=limit)) == count


@pytest.mark.parametrize("path", ["/memories", "/memories/search"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("limit", value) for value in ("two", "", "1.5", "0", "-5", "+2", "2000", "9" * 5_000)),
        ("category", "x"),
        ("source_type", "x"),
    ],
)
async def test_wrong_queries_are_named(path: str, name: str, value: str):
    async with remembering() as chat:
        answer = await chat.ask("GET", path, params=_searched(path, name, value))
        error(answer, 400, "invalid_request", name)


def _searched(path: str, name: str, value: str) -> dict[str, str]:
    return {name: value, **({"query": "a"} if path.endswith("search") else {})}


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.0", "9" * 19, "٣"])
async def test_a_cursor_of_nobody_is_named(cursor: str):
    async with remembering() as chat:
        answer = await chat.ask("GET", "/memories", params={"cursor": cursor})
        error(answer, 400, "invalid_request", "cursor")


# -- GET /chat/api/{chatId}/memories/search --------------------------------------------------


async def test_a_search_ranks_by_relevance():
    async with remembering(HashingEmbedder()) as chat:
        for content in ("The office is in Graz", "User prefers tea", DEADLINE):
            await chat.saved(content)
        answer = await chat.ask(
            "GET", "/memories/search", params={"query": "when is the project deadline"}
        )
    shown = answer.json()
    assert shown["degraded"] == []
    assert shown["memories"][0]["content"] == DEADLINE
    assert set(shown["memories"][0]) == FIELDS | {"relevance"}
    assert all(0 <= row["relevance"] <= 1 for row in shown["memories"])


async def test_a_search_gives_five_unless_it_is_told_otherwise():
    async with remembering() as chat:
        for number in range(7):
            await chat.saved(f"Fact number {number} of the office")
        assert len(await chat.found("office")) == 5
        assert len(await chat.found("office", limit=6)) == 6


@pytest.mark.parametrize("query", [{}, {"query": ""}, {"query": " \t"}])
async def test_a_search_for_nothing_is_refused(query: dict[str, str]):
    async with remembering() as chat:
        answer = await chat.ask("GET", "/memories/search", params=query)
        error(answer, 400, "invalid_request", "query")


# -- ids, prefixes, methods, credentials -----------------------------------------------------


@pytest.mark.parametrize("chat_id", ["a b", "a%00", "%C3%A9", "x" * 201, "{chat}", "a%22"])
async def test_a_chat_id_that_cannot_be_one(chat_id: str):
    async with remembering() as chat:
        for method, path in (("GET", "/memories"), ("GET", "/memories/events"),
                             ("POST", "/memory"), ("DELETE", "/memories/mem_1")):  # fmt: skip
            answer = await chat.ask(method, path, chat_id)
            error(answer, 400, "invalid_request", "chatId")


@pytest.mark.parametrize("prefix", ["", "/v1", "/api", "/api/v1"])
async def test_every_route_stands_under_every_prefix(prefix: str):
    async with remembering() as chat:
        posted = {"messageId": "m", "content": DEADLINE}
        root = f"{prefix}/chat/api/550e8400-e29b-41d4-a716-446655440000"
        made = await chat.client.post(f"{root}/memory", json=posted, headers=KEY)
        assert made.status_code == 201
        rows = await chat.client.get(f"{root}/memories", headers=KEY)
        assert len(rows.json()["memories"]) == 1
        gone = await chat.client.delete(f"{root}/memories/{made.json()['id']}", headers=KEY)
        assert gone.status_code == 204


@pytest.mark.parametrize("path", ["/nothing", "/memory/x", "/memories/a/b", "/memories/a/b/c", ""])
async def test_paths_below_that_are_none_do_not_reach_the_upstream(
    path: str, base: str, upstream: Any
):
    async with remembering(base=base) as chat:
        answer = await chat.ask("GET", path)
        assert answer.status_code == 404
        assert (await chat.ask("PUT", "/memories")).status_code == 405
    assert not upstream.seen


async def test_as_many_as_a_tenant_may_have():
    async with remembering(rules=MemoryRules(most=2)) as chat:
        await chat.saved("Fact number 0")
        await chat.saved("Fact number 1", chat="c2")
        message = error(await chat.post("Fact number 2"), 409, "memory_limit", None)
        assert "Fact" not in message
        assert (await chat.post("Fact number 0")).status_code == 200
