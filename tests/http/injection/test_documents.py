"""The routes of documents: each endpoint, field, default, status and error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.document import MAX_BYTES, MAX_METADATA_BYTES
from memtree_proxy.wire.documents import MAX_DOCUMENTS
from tests.fakes import HashingEmbedder
from tests.http.owned.filing import FIELDS, KEY, LONG, PORTS, filing
from tests.http.owned.remembering import error
from tests.unit.memories.books import MoodyEmbedder

SECRET = "ghp_" + "a1B2c3" * 6


# -- POST /rag/{namespace}/documents -----------------------------------------------------------


async def test_a_document_is_stored():
    async with filing() as rag:
        answer = await rag.post(type="manual", metadata={"author": "Ada"})
        assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
        row = {
            "id": "ports.md",
            "type": "manual",
            "metadata": {"author": "Ada"},
            "passages": 1,
            "characters": len(PORTS),
            "masked_secrets": 0,
            "created_at": answer.json()["created_at"],
        }
        assert len(row["created_at"]) == len("2026-11-22T14:22:32.000Z")
        assert answer.json() == {**row, "status": "created", "pending": False}
        assert await rag.rows() == [row]
        shown = await rag.ask("GET", "/documents/ports.md")
        assert shown.json() == {**row, "text": PORTS}


async def test_the_same_again_is_told_and_another_takes_its_place():
    async with filing() as rag:
        await rag.put()
        again = await rag.post()
        assert (again.status_code, again.json()["status"]) == (200, "unchanged")
        other = await rag.post(text=LONG)
        assert (other.status_code, other.json()["status"]) == (201, "replaced")
        assert [row["passages"] for row in await rag.rows()] == [9]


async def test_without_an_id_it_gets_one():
    async with filing() as rag:
        answers = [await rag.ask("POST", "/documents", json={"text": PORTS}) for _ in range(2)]
        ids = [answer.json()["id"] for answer in answers]
        assert all(id_.startswith("doc_") for id_ in ids)
        assert sorted(await rag.ids()) == sorted(ids)


async def test_secrets_are_masked_and_counted():
    async with filing() as rag:
        row = await rag.put(text=f"{PORTS}Key: {SECRET}\n", metadata={"password": SECRET})
        assert (row["masked_secrets"], row["metadata"]) == (2, {"password": "[secret]"})
        shown = await rag.ask("GET", "/documents/ports.md")
        assert shown.json()["text"] == f"{PORTS}Key: [secret]\n"
        assert SECRET not in json.dumps(await rag.found("key"))


async def test_several_are_stored_in_one_request():
    async with filing() as rag:
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
        assert all(set(row) == FIELDS | {"status"} for row in rows)
        assert await rag.ids() == [rows[2]["id"], "a", "b"]
        again = await rag.ask("POST", "/documents", json={"documents": posted[:2]})
        assert again.status_code == 200


BAD = [
    ({"text": None}, "text"), ({"text": " "}, "text"), ({"text": 5}, "text"),
    ({"text": ["a"]}, "text"), ({"text": "a\0"}, "text"),
    ({"id": ""}, "id"), ({"id": "a/b"}, "id"), ({"id": 5}, "id"), ({"id": "a" * 201}, "id"),
    ({"type": ""}, "type"), ({"type": 5}, "type"), ({"type": "t" * 201}, "type"),
    ({"metadata": []}, "metadata"), ({"metadata": "a"}, "metadata"),
    ({"metadata": {"a": "b" * MAX_METADATA_BYTES}}, "metadata"),
    ({"metadata": {"a": [[[[[[[[1]]]]]]]]}}, "metadata"),
    ({"metadata": {"a": 1 << 80}}, "metadata"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "param"), BAD)
async def test_what_is_wrong_is_named_and_nothing_is_stored(fields: dict[str, Any], param: str):
    async with filing() as rag:
        posted = {"id": "a", "text": "Text", **fields}
        answer = await rag.ask("POST", "/documents", json=posted)
        assert error(answer, 400, "invalid_request", param).startswith(param)
        several = {"documents": [{"id": "first", "text": "Text"}, posted]}
        answer = await rag.ask("POST", "/documents", json=several)
        place = f"documents[1].{param}"
        assert error(answer, 400, "invalid_request", place).startswith(place)
        assert await rag.ids() == []


@pytest.mark.parametrize(
    ("posted", "param"),
    [
        ({"documents": []}, "documents"),
        ({"documents": {}}, "documents"),
        ({"documents": "a"}, "documents"),
        ({"documents": None}, "text"),
        ({"documents": [5]}, "documents[0]"),
        ({"documents": [{"text": "a"}], "text": "b"}, "text"),
        ({"documents": [{"text": "a"}] * (MAX_DOCUMENTS + 1)}, "documents"),
        ({"documents": [{"id": "a", "text": "a"}] * 2}, "documents[1].id"),
        ({}, "text"),
    ],
)
async def test_a_wrong_list_is_refused(posted: Any, param: str):
    async with filing() as rag:
        answer = await rag.ask("POST", "/documents", json=posted)
        assert error(answer, 400, "invalid_request", param).startswith(param)
        assert await rag.ids() == []


async def test_null_means_absent():
    async with filing() as rag:
        one = {"text": PORTS, "id": None, "type": None, "metadata": None, "documents": None}
        assert (await rag.ask("POST", "/documents", json=one)).status_code == 201
        several = {"documents": [{"text": PORTS}], "text": None, "id": None}
        assert (await rag.ask("POST", "/documents", json=several)).status_code == 201
        assert len(await rag.ids()) == 2


async def test_what_is_too_long_is_a_413_that_names_it():
    async with filing() as rag:
        answer = await rag.post(text="a" * (MAX_BYTES + 1))
        assert error(answer, 413, "request_too_large", "text").startswith("text has 1048577 bytes")
        posted = {"documents": [{"text": "a" * MAX_BYTES} for _ in range(17)]}
        answer = await rag.ask("POST", "/documents", json=posted)
        error(answer, 413, "request_too_large", "documents")
        assert await rag.ids() == []


async def test_a_secret_as_a_name_is_refused_without_its_value():
    async with filing() as rag:
        for fields, param in (({"type": SECRET}, "type"), ({"metadata": {SECRET: 1}}, "metadata")):
            answer = await rag.post(**fields)
            assert SECRET not in error(answer, 422, "secret_rejected", param)
        assert await rag.ids() == []


async def test_the_limit_of_memories_counts_passages():
    async with filing(max_memories=9) as rag:
        await rag.put("long.md", LONG)
        answer = await rag.post()
        assert "passages" in error(answer, 409, "memory_limit", None)
        await rag.put("long.md", PORTS)
        await rag.put()


@pytest.mark.parametrize("namespace", ["a%20b", "a" * 201, "%C3%A9"])
async def test_a_namespace_is_an_id(namespace: str):
    async with filing() as rag:
        for method, path in (
            ("POST", "/documents"), ("GET", "/documents"), ("GET", ""), ("DELETE", ""),
            ("GET", "/search"), ("GET", "/documents/a"), ("DELETE", "/documents/a"),
        ):  # fmt: skip
            answer = await rag.ask(method, path, namespace, json={"text": "a"})
            error(answer, 400, "invalid_request", "namespace")


# -- the others --------------------------------------------------------------------------------


async def test_lists_are_paged_and_filtered():
    async with filing() as rag:
        for n in range(5):
            await rag.put(f"d{n}", PORTS, type="even" if n % 2 == 0 else "odd")
        page = (await rag.ask("GET", "/documents", params={"limit": 2})).json()
        assert [row["id"] for row in page["documents"]] == ["d4", "d3"]
        cursor = page["next_cursor"]
        page = (await rag.ask("GET", "/documents", params={"cursor": cursor})).json()
        assert ([row["id"] for row in page["documents"]], page["next_cursor"]) == (
            ["d2", "d1", "d0"],
            None,
        )
        assert await rag.ids(type="odd") == ["d3", "d1"]
        assert await rag.ids(type="") == await rag.ids(limit=1_000) == await rag.ids()
        for name, value in (("cursor", "x"), ("limit", "many"), ("limit", "999999999999")):
            answer = await rag.ask("GET", "/documents", params={name: value})
            error(answer, 400, "invalid_request", name)


async def test_a_search_answers_passages_with_their_places():
    async with filing(HashingEmbedder()) as rag:
        await rag.put("long.md", LONG, type="book", metadata={"author": "Ada"})
        await rag.put()
        await rag.on.book.join()
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


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "query"), ({"query": " "}, "query"), ({"query": "a", "limit": "x"}, "limit"),
        ({"query": "a", "threshold": "high"}, "threshold"),
    ],
)  # fmt: skip
async def test_a_wrong_search_is_refused(query: dict[str, str], param: str):
    async with filing() as rag:
        answer = await rag.ask("GET", "/search", params=query)
        assert error(answer, 400, "invalid_request", param).startswith(param)


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
        await rag.on.book.join()
        assert (await rag.ask("GET", "")).json()["pending"] is False


@pytest.mark.parametrize("id_", ["other", "a%20b", "%0a", "x" * 300, "ports.md "])
async def test_what_is_not_there_is_a_404(id_: str):
    async with filing() as rag:
        await rag.put()
        for method in ("GET", "DELETE"):
            answer = await rag.ask(method, f"/documents/{id_}")
            error(answer, 404, "not_found", "documentId")
        assert await rag.ids() == ["ports.md"]


async def test_a_deleted_document_is_in_no_answer():
    async with filing() as rag:
        await rag.put("long.md", LONG)
        await rag.put()
        answer = await rag.ask("DELETE", "/documents/long.md")
        assert (answer.status_code, answer.json()) == (200, {"deleted_passages": 9})
        assert await rag.ids() == ["ports.md"]
        assert await rag.found("subject 4") == []
        assert (await rag.ask("GET", "/documents/long.md")).status_code == 404
        assert (await rag.ask("DELETE", "/documents/long.md")).status_code == 404


@pytest.mark.parametrize("purge", ["true", "false"])
async def test_all_of_a_namespace_are_deleted(purge: str):
    async with filing() as rag:
        await rag.put("long.md", LONG)
        await rag.put()
        await rag.put(namespace="other")
        answer = await rag.ask("DELETE", "", params={"purge": purge})
        assert answer.json() == {"deleted_passages": 10}
        assert await rag.ids() == []
        assert await rag.ids("other") == ["ports.md"]
        answer = await rag.client.get("/v1/rag", headers=KEY)
        assert answer.json() == {"namespaces": [{"namespace": "other", "passages": 1}]}


async def test_a_wrong_purge_deletes_nothing():
    async with filing() as rag:
        await rag.put()
        for path in ("", "/documents/ports.md"):
            answer = await rag.ask("DELETE", path, params={"purge": "perhaps"})
            error(answer, 400, "invalid_request", "purge")
        assert await rag.ids() == ["ports.md"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/documents", "GET, POST, DELETE"),
        ("POST", "", "GET, DELETE"), ("PATCH", "/documents/a", "GET, DELETE"),
        ("POST", "/search", "GET"),
    ],
)  # fmt: skip
async def test_other_methods_are_not_allowed(method: str, path: str, allowed: str):
    async with filing() as rag:
        answer = await rag.ask(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize("prefix", ["", "/v1", "/api", "/api/v1"])
async def test_every_prefix_leads_there_and_no_other_path_to_the_upstream(prefix: str):
    async with filing() as rag:
        await rag.put()
        answer = await rag.client.get(f"{prefix}/rag/handbook/documents", headers=KEY)
        assert [row["id"] for row in answer.json()["documents"]] == ["ports.md"]
        for path in ("/rag/handbook/other", "/rag/handbook/documents/a/b"):
            answer = await rag.client.get(prefix + path, headers=KEY)
            assert answer.status_code == 404
            assert answer.json()["error"]["code"] == "not_found"
