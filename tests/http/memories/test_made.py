"""Memories of each kind as they are made: what is shown of them, what is refused, and what is there
already."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.memories.book import MemoryRules
from memtree.memories.memory import CATEGORIES, USER_CATEGORIES
from memtree_proxy.wire.chat_memory_bodies import MAX_MESSAGE_ID
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import (
    AGENT,
    TYPESCRIPT,
    Agents,
    Asking,
    Chats,
    Filing,
    Users,
    chats,
    each,
    error,
    serving,
    users,
    wrong,
)
from tests.unit.memories.books import MoodyEmbedder

EVERY, STORED = each(Users, Chats, Agents, Filing), each(Users, Chats, Agents)
PEOPLE = each(Users, Chats)
LONG = "x" * 16_000
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"
BORN, MILLISECONDS = "1970-01-12T13:46:40.000Z", 1_000_000_000
OLD, NEW = (f"The staging server listens on port {port}" for port in (8090, 8091))

COMMON: dict[str, Any] = {
    "category": "preference", "tags": ["family-trip", "köln"], "source_type": "user",
    "created_at": BORN, "updated_at": BORN, "last_confirmed_at": BORN, "expires_at": None,
    "deleted_at": None, "tainted": False, "state": "live", "standing": False, "twins": [],
    "possible_update_of": [], "version": 1,
}  # fmt: skip
OF_AGENTS = {
    "agentId": AGENT, "subjectId": None, "threadId": None, "tags": ["family-trip", "köln"],
    "confidence": 1.0, "mentions": [], "when": None, "expiresAt": None, "source": "agent",
    "createdAt": MILLISECONDS, "updatedAt": MILLISECONDS, "version": 1, "tainted": False,
    "state": "live", "isLatest": True, "supersedes": None, "supersededBy": None,
}  # fmt: skip
SHOWN: dict[type[Asking], dict[str, Any]] = {
    Users: COMMON | {
        "text": TYPESCRIPT, "number": 1, "group_id": None, "group_title": None, "group_ids": [],
        "conversation_id": None, "source": None, "supersedes": None, "superseded_by": None,
    },
    Chats: COMMON | {"content": TYPESCRIPT, "message_id": "msg_abc123"},
    Agents: {"kind": "Note", "data": {"text": TYPESCRIPT}, "metadata": OF_AGENTS},
    Filing: {
        "type": "manual", "metadata": {"author": "Ada"}, "passages": 1, "masked_secrets": 0,
        "characters": len(TYPESCRIPT),
    },
}  # fmt: skip


@EVERY
async def test_what_was_stored_is_shown_with_all_that_is_known_of_it(kind: type[Asking]):
    given: dict[str, Any] = {"tags": [" Family  Trip ", "family-trip", "Köln"]}
    if kind is Filing:
        given = {"type": "manual", "metadata": {"author": "Ada"}}
    async with serving(kind) as of:
        answer = await of.post(f" {TYPESCRIPT}\n" if kind is Users else TYPESCRIPT, **given)
        assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
        made = of.made(answer.json())
        assert made["id"].startswith("doc_" if kind is Filing else "mem_")
        row = {"id": made["id"], **SHOWN[kind]}
        if kind is Filing:  # by the clock of the machine
            row["created_at"] = made["created_at"]
            assert len(row["created_at"]) == len(BORN)
        assert await of.rows() == [row]
        one = await of.ask("GET", f"{of.LIST}/{made['id']}")
        if kind is Agents:
            assert made == {"id": made["id"], "kind": "Note", "metadata": row["data"]}
            shown = one.json()["memory"]
            shown["metadata"]["mentions"] = []  # its rules see one; lists show none
            assert one.json()["success"] is True
            assert shown == row
        elif kind is Filing:
            assert made == {**row, "status": "created", "pending": False}
            assert one.json() == {**row, "text": TYPESCRIPT}
        else:
            assert made == one.json() == row
            assert answer.headers["etag"] == '"1"'
        assert one.headers["cache-control"] == "no-store"
        assert one.headers.get("etag") == (None if kind is Filing else '"1"')


@PEOPLE
async def test_a_category_is_inferred_when_absent(kind: type[Asking]):
    """An instruction is a category of chats; of a user it is a preference."""
    async with serving(kind) as of:
        for text, of_user, of_chat in (
            ("User prefers responses in bullet-point format", "preference", "preference"),
            ("Always include code examples in Python", "preference", "instruction"),
            ("The project deadline is March 15, 2026", "schedule", "fact"),
            ("The staging port is 8090", "fact", "fact"),
        ):
            inferred = of_user if kind is Users else of_chat
            assert (await of.saved(text))["category"] == inferred
            assert (await of.saved(text, "c2", category=None))["category"] == inferred
            other = await of.saved(text, "c3", category="instruction")
            assert (other["category"], other["tainted"]) == ("instruction", False)
    assert set(CATEGORIES) - set(USER_CATEGORIES) == {"instruction"}


async def test_a_category_is_one_of_five_or_ones_own():
    async with users() as of:
        for category in (*USER_CATEGORIES, "Reading list", "家族", "instruction"):
            row = await of.saved(f"About {category}", category=category)
            assert row["category"] == category
            assert await of.ids(category=category) == [row["id"]]


@PEOPLE
async def test_what_is_there_already_is_answered(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        row = await of.saved()
        for same in (TYPESCRIPT, TYPESCRIPT.upper() + "!"):
            answer = await of.post(same)
            assert (answer.status_code, answer.json()) == (200, row)
            assert answer.headers["etag"] == '"1"'
        assert await of.texts() == [TYPESCRIPT]
        # By its meaning, too.
        row = await of.saved("The office of the team is in Graz")
        answer = await of.post("In Graz is the office of the team")
        assert (answer.status_code, answer.json()["id"]) == (200, row["id"])


@PEOPLE
async def test_a_changed_value_is_stored_and_says_what_it_may_replace(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        old = await of.id_of(OLD)
        (update,) = (await of.saved(NEW))["possible_update_of"]
        assert 0 <= update.pop("relevance") <= 1
        assert update == {"id": old, of.TEXT: OLD, "differs": ["8090 -> 8091"]}
        assert await of.texts() == [NEW, OLD]


@PEOPLE
async def test_concurrent_posts_of_one_text_make_one_memory(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        answers = await asyncio.gather(*(of.post() for _ in range(9)))
        assert sorted(answer.status_code for answer in answers) == [200] * 8 + [201]
        assert {answer.json()["id"] for answer in answers} == set(await of.ids())


@PEOPLE
async def test_an_embedder_that_fails_loses_no_memory(kind: type[Asking]):
    moody = MoodyEmbedder()
    moody.down = True
    async with serving(kind, moody) as of:
        row = await of.saved()
        assert (row["dedup"], row["degraded"]) == ("deferred", ["embedder"])
        found = await of.got("GET", of.SEARCH, params={"query": "new projects"})
        assert found["degraded"] == ["embedder"]
        assert [hit["id"] for hit in found["memories"]] == [row["id"]]
        assert (await of.post()).json()["id"] == row["id"]  # by its words


# -- what is refused -------------------------------------------------------------------------

TEXTS = [None, 7, ["text"], {"text": "a"}, "", " \n\t", "a\0b", LONG + "y"]
# By the field that is named: its wrong values, of both and of each.
WRONG: dict[str, list[Any]] = {"tags": ["one", [str(n) for n in range(33)]],
                               "tags[0]": [[1], ["x" * 33]]}  # fmt: skip
OF_EACH: dict[type[Asking], dict[str, list[Any]]] = {
    Users: WRONG | {
        "text": TEXTS, "category": [7, "", "x" * 65, "<b>", ["fact"]],
        "expires_at": [7, "soon", "1970-01-02"], "memories": [[], [{"kind": "a", "data": {}}]],
        "conversation": [[{"role": "user", "content": "I like tea"}]],
    },
    Chats: WRONG | {
        "content": TEXTS, "category": ["schedule", 1, ["fact"]],
        "messageId": [None, "", 5, "m" * (MAX_MESSAGE_ID + 1), "a\0b"],
    },
}  # fmt: skip


@PEOPLE
async def test_what_is_wrong_with_a_new_memory_is_named(kind: type[Asking]):
    async with serving(kind) as of:
        for param, values in OF_EACH[kind].items():
            name = param.partition("[")[0]
            for value in values:
                posted = of.posted(TYPESCRIPT, {}) | {name: value}
                assert name in wrong(await of.ask("POST", of.NEW, json=posted), param)
        for field in of.posted(TYPESCRIPT, {}):
            posted = {k: v for k, v in of.posted(TYPESCRIPT, {}).items() if k != field}
            wrong(await of.ask("POST", of.NEW, json=posted), field)
        assert await of.rows() == []


async def test_a_text_of_an_agent_is_refused_as_such():
    async with users() as of:
        for name in ("agentId", "subjectId"):
            wrong(await of.post(**{name: "helper"}), "text")
        wrong(await of.ask("POST", json={"memories": [{"kind": "a", "data": {}}]}), "memories")
        said = [{"role": "user", "content": "I like tea"}]
        wrong(await of.ask("POST", json={"conversation": said}), "conversation")
        assert await of.rows() == []


@pytest.mark.parametrize(
    ("body", "param"),
    [
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
    async with chats() as of:
        answer = await of.ask("POST", of.NEW, content=body, headers=headers)
        assert answer.status_code == 400
        assert param is None or wrong(answer, param)


@PEOPLE
async def test_a_text_of_the_largest_size_is_kept_whole(kind: type[Asking]):
    async with serving(kind) as of:
        assert of.text(await of.saved(LONG)) == LONG
    async with serving(kind, max_text_chars=10) as of:
        wrong(await of.post("x" * 11), of.TEXT)


@PEOPLE
async def test_a_secret_is_refused_by_its_kind(kind: type[Asking]):
    async with serving(kind) as of:
        path = f"{of.LIST}/{await of.id_of()}"
        answers: dict[str | None, list[Any]] = {of.TEXT: [await of.post(f"My key is {TOKEN}")]}
        answers[of.TEXT].append(await of.ask("PATCH", path, json={of.TEXT: f"It is {TOKEN}"}))
        if kind is Users:
            answers[None] = [await of.post("a", category=TOKEN)]
        for name, those in answers.items():
            for answer in those:
                assert "API key" in error(answer, 422, "secret_rejected", name)
                assert TOKEN[:24] not in answer.text
        assert await of.texts() == [TYPESCRIPT]


@EVERY
async def test_as_many_as_a_tenant_may_have(kind: type[Asking]):
    async with serving(kind, rules=MemoryRules(most=2)) as of:
        await of.saved("Fact number 0")
        await of.saved("Fact number 1", "c2")
        assert "Fact" not in error(await of.post("Fact number 2"), 409, "memory_limit", None)
        assert kind not in (Users, Chats) or (await of.post("Fact number 0")).status_code == 200
