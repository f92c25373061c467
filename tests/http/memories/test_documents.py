"""The routes of documents: each endpoint, field, default, status and error."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.memories.book import MemoryRules
from memtree.memories.document_passages import MAX_BYTES, MAX_METADATA_BYTES
from memtree_proxy.wire.document_bodies import MAX_DOCUMENTS
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import KEY, PORTS, Filing, error, filing, wrong
from tests.unit.memories.books import MoodyEmbedder

LONG = "".join(f"# Chapter {n}\n\n" + f"It is about subject {n}. " * 30 + "\n\n" for n in range(9))
SECRET = "ghp_" + "a1B2c3" * 6


@pytest.fixture
async def rag() -> AsyncIterator[Filing]:
    async with filing() as made:
        yield made


# -- POST /rag/{namespace}/documents -----------------------------------------------------------


async def test_the_same_again_is_told_and_another_takes_its_place(rag: Filing):
    await rag.put()
    again = await rag.post(PORTS, id="ports.md")
    assert (again.status_code, again.json()["status"]) == (200, "unchanged")
    other = await rag.post(LONG, id="ports.md")
    assert (other.status_code, other.json()["status"]) == (201, "replaced")
    assert [row["passages"] for row in await rag.rows()] == [9]


async def test_without_an_id_it_gets_one(rag: Filing):
    answers = [await rag.ask("POST", "/documents", json={"text": PORTS}) for _ in range(2)]
    ids = [answer.json()["id"] for answer in answers]
    assert all(id_.startswith("doc_") for id_ in ids)
    assert sorted(await rag.ids()) == sorted(ids)


async def test_secrets_are_masked_and_counted(rag: Filing):
    row = await rag.put(text=f"{PORTS}Key: {SECRET}\n", metadata={"password": SECRET})
    assert (row["masked_secrets"], row["metadata"]) == (2, {"password": "[secret]"})
    shown = await rag.ask("GET", "/documents/ports.md")
    assert shown.json()["text"] == f"{PORTS}Key: [secret]\n"
    assert SECRET not in json.dumps(await rag.found("key"))


async def test_several_are_stored_in_one_request(rag: Filing):
    await rag.put("b", "Lunch is at noon.")
    posted = [
        {"id": "a", "text": PORTS},
        {"id": "b", "text": "Lunch is at noon."},
        {"text": LONG, "type": "t", "metadata": {}},
    ]
    answer = await rag.ask("POST", "/documents", json={"documents": posted})
    assert answer.status_code == 201
    rows = answer.json()["documents"]
    assert [row["status"] for row in rows] == ["created", "unchanged", "created"]
    assert [row["passages"] for row in rows] == [1, 1, 9]
    assert {*rows[0]} == {*rows[1]} == {*(await rag.rows())[0], "status"}
    assert await rag.ids() == [rows[2]["id"], "a", "b"]
    again = await rag.ask("POST", "/documents", json={"documents": posted[:2]})
    assert again.status_code == 200


BAD: dict[str, list[Any]] = {
    "text": [None, " ", 5, ["a"], "a\0"], "id": ["", "a/b", 5, "a" * 201],
    "type": ["", 5, "t" * 201],
    "metadata": [
        [], "a", {"a": "b" * MAX_METADATA_BYTES}, {"a": [[[[[[[[1]]]]]]]]}, {"a": 1 << 80},
    ],
}  # fmt: skip
LISTS: list[tuple[dict[str, Any], str]] = [
    ({"documents": []}, "documents"), ({"documents": {}}, "documents"),
    ({"documents": "a"}, "documents"), ({"documents": None}, "text"),
    ({"documents": [5]}, "documents[0]"), ({"documents": [{"text": "a"}], "text": "b"}, "text"),
    ({"documents": [{"text": "a"}] * (MAX_DOCUMENTS + 1)}, "documents"), ({}, "text"),
    ({"documents": [{"id": "a", "text": "a"}] * 2}, "documents[1].id"),
]  # fmt: skip


async def test_what_is_wrong_is_named_and_nothing_is_stored(rag: Filing):
    wrongs = list(LISTS)
    for param, values in BAD.items():
        for value in values:
            posted = {"id": "a", "text": "Text", param: value}
            wrongs.append((posted, param))
            several = {"documents": [{"id": "first", "text": "Text"}, posted]}
            wrongs.append((several, f"documents[1].{param}"))
    for posted, param in wrongs:
        answer = await rag.ask("POST", "/documents", json=posted)
        assert wrong(answer, param).startswith(param)
    assert await rag.ids() == []


async def test_null_means_absent(rag: Filing):
    one = {"text": PORTS, "id": None, "type": None, "metadata": None, "documents": None}
    assert (await rag.ask("POST", "/documents", json=one)).status_code == 201
    several = {"documents": [{"text": PORTS}], "text": None, "id": None}
    assert (await rag.ask("POST", "/documents", json=several)).status_code == 201
    assert len(await rag.ids()) == 2


async def test_what_is_too_long_is_a_413_that_names_it(rag: Filing):
    answer = await rag.post("a" * (MAX_BYTES + 1))
    assert error(answer, 413, "request_too_large", "text").startswith("text has 1048577 bytes")
    posted = {"documents": [{"text": "a" * MAX_BYTES} for _ in range(17)]}
    answer = await rag.ask("POST", "/documents", json=posted)
    error(answer, 413, "request_too_large", "documents")
    assert await rag.ids() == []


async def test_a_secret_as_a_name_is_refused_without_its_value(rag: Filing):
    for fields, param in (({"type": SECRET}, "type"), ({"metadata": {SECRET: 1}}, "metadata")):
        answer = await rag.post(**fields)
        assert SECRET not in error(answer, 422, "secret_rejected", param)
    assert await rag.ids() == []


async def test_the_limit_of_memories_counts_passages():
    async with filing(rules=MemoryRules(most=9)) as rag:
        await rag.put("long.md", LONG)
        answer = await rag.post(PORTS, id="ports.md")
        assert "passages" in error(answer, 409, "memory_limit", None)
        await rag.put("long.md", PORTS)
        await rag.put()


# -- the others --------------------------------------------------------------------------------


async def test_lists_are_filtered(rag: Filing):
    for n in range(5):
        await rag.put(f"d{n}", PORTS, type="even" if n % 2 == 0 else "odd")
    assert await rag.ids(type="odd") == ["d3", "d1"]
    assert await rag.ids(type="") == await rag.ids(limit=1_000) == await rag.ids()


async def test_a_search_answers_passages_with_their_places():
    async with filing(HashingEmbedder()) as rag:
        await rag.put("long.md", LONG, type="book", metadata={"author": "Ada"})
        await rag.put()
        await rag.book.join()
        answer = await rag.ask("GET", "/search", params={"query": "subject 4", "limit": 1})
        shown = answer.json()
        (hit,) = shown["passages"]
        assert shown["degraded"] == []
        assert hit == {
            "id": "long.md",
            "type": "book",
            "text": LONG[hit["start"] : hit["end"]],
            "relevance": hit["relevance"],
            "passage": 5,
            "passages": 9,
            "start": LONG.index("# Chapter 4"),
            "end": LONG.index("# Chapter 5"),
            "metadata": {"author": "Ada"},
        }
        assert 0 < hit["relevance"] <= 1
        assert {hit["id"] for hit in await rag.found("staging port")} >= {"ports.md"}
        assert {hit["id"] for hit in await rag.found("staging port", type="book")} <= {"long.md"}
        assert await rag.found("staging port", threshold=1) == []
        assert len(await rag.found("subject", limit=3)) == 3


async def test_words_rank_while_the_embedder_is_down():
    embedder = MoodyEmbedder()
    embedder.down = True
    async with filing(embedder) as rag:
        assert (await rag.put())["pending"] is True
        state = (await rag.ask("GET", "")).json()
        assert state == {"namespace": "handbook", "passages": 1, "pending": True}
        answer = await rag.ask("GET", "/search", params={"query": "staging port"})
        assert answer.json()["degraded"] == ["embedder"]
        assert [hit["id"] for hit in answer.json()["passages"]] == ["ports.md"]
        embedder.down = False
        await rag.book.join()
        assert (await rag.ask("GET", "")).json()["pending"] is False


@pytest.mark.parametrize("purge", ["true", "false"])
async def test_all_of_a_document_and_of_a_namespace_are_deleted(rag: Filing, purge: str):
    for id_ in ("gone.md", "long.md"):
        await rag.put(id_, LONG)
    await rag.put()
    await rag.put(whom="other")
    wrong(await rag.ask("DELETE", "", params={"purge": "perhaps"}), "purge")
    query = {"purge": purge}
    gone = await rag.got("DELETE", "/documents/gone.md", params=query)
    assert gone == {"deleted_passages": 9}
    assert await rag.ids() == ["ports.md", "long.md"]
    assert await rag.got("DELETE", "", params=query) == {"deleted_passages": 10}
    assert (await rag.ids(), await rag.ids("other")) == ([], ["ports.md"])
    answer = await rag.client.get("/v1/rag", headers=KEY)
    assert answer.json() == {"namespaces": [{"namespace": "other", "passages": 1}]}


async def test_other_methods_are_not_allowed(rag: Filing):
    for method, path, allowed in (
        ("POST", "", "GET, DELETE"), ("PATCH", "/documents/a", "GET, DELETE"),
        ("POST", "/search", "GET"),
    ):  # fmt: skip
        answer = await rag.ask(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
