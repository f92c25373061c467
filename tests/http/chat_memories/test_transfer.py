"""Exports and imports over HTTP: fields, errors, packed files, whose memories they are."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from memtree.errors import StoreUnavailable
from memtree.memories.scope import Scope
from memtree_proxy.http import auth
from memtree_proxy.http.auth import tenant_id
from tests.http.owned.kinds import error
from tests.http.owned.transferring import KEY, OTHER, lines, statuses, transferring
from tests.http.served.fakes import FakeKeys

TEA, DOG = {"text": "Likes tea"}, {"text": "Has a beagle"}
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
REPORT = {
    "dry_run", "keep_ids", "format", "complete", "stopped", "read", "imported", "skipped",
    "failed", "tainted", "groups", "tombstones", "schemas", "reasons", "warnings",
    "lines", "truncated",
}  # fmt: skip


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return made.getvalue()


# -- POST /memories/import -------------------------------------------------------------------


async def test_an_import_answers_what_became_of_each_line():
    raw = lines(TEA, {"text": f"my key is {SECRET}"}, {"text": "likes tea"}, 5)
    async with transferring() as t:
        report = await t.imported(raw)
        assert await t.texts() == ["Likes tea"]
        (memory,) = (await t.store.page(t.scope)).memories
    assert set(report) == REPORT
    assert statuses(report) == [
        (1, "imported", ""), (2, "refused", "secret"), (3, "duplicate", ""),
        (4, "invalid", "not_an_object"),
    ]  # fmt: skip
    assert (report["read"], report["imported"], report["skipped"], report["failed"]) == (4, 1, 1, 2)
    assert (report["format"], report["complete"], report["stopped"]) == ("memtree", True, None)
    assert report["lines"][0] == {
            "line": 1, "status": "imported", "id": memory.id, "tainted": True,
        }  # fmt: skip
    assert SECRET not in json.dumps(report)


@pytest.mark.parametrize("prefix", ["", "/v1", "/api", "/api/v1"])
async def test_it_stands_under_every_prefix(prefix: str):
    async with transferring() as t:
        answer = await t.client.post(
            f"{prefix}/memories/import", json={"results": [{"memory": "a"}]}
        )
        assert answer.json()["imported"] == 1
        assert answer.headers["cache-control"] == "no-store"


async def test_a_dry_run_stores_nothing():
    async with transferring() as t:
        report = await t.imported(lines(TEA), dry_run="true")
        assert (report["dry_run"], report["imported"]) == (True, 1)
        assert "id" not in report["lines"][0]
        assert await t.texts() == []


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"dry_run": "maybe"}, "dry_run"),
        ({"keep_ids": "2"}, "keep_ids"),
        ({"format": "zep"}, "format"),
        ({"format": ""}, "format"),
    ],
)
async def test_a_wrong_query_is_refused(query: dict[str, Any], param: str):
    async with transferring() as t:
        error(await t.post(lines(TEA), **query), 400, "invalid_request", param)
        assert await t.texts() == []


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"\xff\xfea", b"[" * 9_999, b'{"a": 1}', b"PK\x03\x04rest", b"\x1f\x8bno"]
)
async def test_a_file_that_cannot_be_read_is_refused_whole(raw: bytes):
    async with transferring() as t:
        answer = await t.post(raw)
        assert answer.status_code == 400, answer.text
        assert await t.texts() == []


async def test_the_type_of_the_body_is_looked_at():
    async with transferring() as t:
        answer = await t.post("Likes tea", {"content-type": "text/plain"})
        assert answer.status_code == 415
        for kind in ("application/json", "application/x-ndjson", "application/octet-stream"):
            assert (await t.post("Likes tea", {"content-type": kind})).status_code == 200


async def test_another_site_imports_nothing():
    async with transferring() as t:
        answer = await t.post(lines(TEA), {"origin": "https://evil.example"})
        assert answer.status_code == 403
        assert await t.texts() == []


async def test_a_body_over_the_limit_is_refused():
    async with transferring(max_body_bytes=1_000) as t:
        error(await t.post("a" * 1_001), 413, "request_too_large", None)
        bombs = [gzip.compress(b"a" * 2_000), zipped(memories_json=b"a" * 2_000)]
        half = gzip.compress(b"a" * 600)
        bombs.append(zipped(a__memories_jsonl_gz=half, b__memories_jsonl_gz=half))
        for bomb in bombs:
            error(await t.post(bomb), 413, "request_too_large", None)
        assert await t.texts() == []


async def test_an_encoded_body_is_decoded():
    async with transferring() as t:
        packed = gzip.compress(lines(TEA))
        assert (await t.post(packed, {"content-encoding": "gzip"})).json()["imported"] == 1


# -- packed files ----------------------------------------------------------------------------

# They hold the time at which they were packed, which must not stand in the names of tests: each
# process that runs some of them has to know them by the same names.

LINE = {"id": "1", "content": "Likes tea", "state": "active", "categories": ["Food"]}
DOCUMENT = {"categories": [], "memories": [LINE]}


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(lines(LINE)),
        zipped(memories_json=json.dumps(DOCUMENT).encode()),
        zipped(x__memories_json=json.dumps(DOCUMENT).encode(), user_json=b"{}"),
        zipped(memories_json=b"{}", memories_jsonl_gz=gzip.compress(lines(LINE))),
        zipped(some_jsonl=lines(LINE)),
    ],
    ids=range(5),
)
async def test_packed_files_are_unpacked(raw: bytes):
    async with transferring() as t:
        report = await t.imported(raw)
        assert (report["format"], report["imported"]) == ("openmemory", 1)
        assert await t.texts() == ["Likes tea"]


def talk(text: str) -> bytes:
    saved = {"author": {"role": "assistant"}, "recipient": "bio", "content": {"parts": [text]}}
    return json.dumps([{"mapping": {"n": {"message": saved}}}]).encode()


CLAUDE_MEMORY = b'{"conversations_memory": "Likes tea\\n\\nHas a beagle"}'


@pytest.mark.parametrize(
    ("raw", "format_"),
    [
        (zipped(**{"conversations-001_json": talk("Has a beagle"), "user_json": b"{}",
                   "conversations-000_json": b"\xef\xbb\xbf" + talk("Likes tea"),
                   "conversations (2)_json": b"[]"}),
         "chatgpt"),
        (zipped(memories_json=CLAUDE_MEMORY, conversations_json=b"[]", projects_json=b"[]"),
         "claude-ai"),
        (zipped(memories__0a1b_json=CLAUDE_MEMORY, users_json=b"[]"), "claude-ai"),
        (zipped(a__memories_jsonl_gz=gzip.compress(lines(LINE)),
                b__memories_jsonl_gz=gzip.compress(lines({**LINE, "content": "Has a beagle"}))),
         "openmemory"),
    ],
    ids=range(4),
)  # fmt: skip
async def test_exports_in_parts_are_read_as_one(raw: bytes, format_: str):
    async with transferring() as t:
        report = await t.imported(raw)
        assert (report["format"], report["complete"]) == (format_, True)
        assert sorted(await t.texts()) == ["Has a beagle", "Likes tea"]


@pytest.mark.parametrize(
    "raw",
    [
        zipped(a_txt=b"a", b_txt=b"b"),
        zipped(**{f"memories__{at}_json": b"[]" for at in range(1_001)}),
        zipped(picture_png=b"a"),
        zipped(memories_json=b"{}")[:-30],
        zipped(memories_json=lines(LINE) * 50).replace(b"\x00\x08\x00", b"\x00\x63\x00"),
        gzip.compress(lines(LINE))[:-4],
    ],
    ids=range(6),
)
async def test_what_cannot_be_unpacked_is_refused(raw: bytes):
    async with transferring() as t:
        assert (await t.post(raw)).status_code == 400
        assert await t.texts() == []


# -- whose they are --------------------------------------------------------------------------


async def test_memories_go_to_the_user_that_is_named():
    async with transferring() as t:
        named = {"x-user-id": "ada"}
        assert (await t.post(lines(TEA), named)).json()["imported"] == 1
        assert (await t.post(lines(TEA), {**named, **OTHER})).json()["imported"] == 1
        assert (await t.post(lines(TEA))).json()["imported"] == 1
        error(await t.post(lines(TEA), {"x-user-id": "a b"}), 400, "invalid_request", "x-user-id")
        for scope in (
            t.scope,
            Scope.of_user(tenant_id("key"), "ada"),
            Scope.of_user(tenant_id("other"), "ada"),
        ):
            assert await t.texts(scope) == ["Likes tea"]


async def test_without_a_key_nothing_is_imported():
    async with transferring(FakeKeys(someone=["key"])) as t:
        answer: Any = await t.post(lines(TEA), {"authorization": "Bearer wrong"})
        assert answer.status_code == 401
        assert (await t.post(lines(TEA))).status_code == 200


async def test_no_text_of_a_file_is_logged_or_measured(caplog: pytest.LogCaptureFixture):
    caplog.set_level("DEBUG")
    raw = lines({"text": "A canary"}, {"text": ["A canary"]}, {"A canary": 5}, "A canary")
    async with transferring() as t:
        report = await t.imported(raw + b'{"text": "A canary\xff"}\n{"text": "A canary')
        answer = await t.post(b'{"A canary": [nonsense')
        await t.exported()
        metrics = (await t.client.get("/metrics")).text
    assert (report["imported"], report["failed"]) == (1, 5)
    assert answer.status_code == 400
    for told in (json.dumps(report), answer.text, caplog.text, metrics):
        assert "canary" not in told


# -- GET /memories/export --------------------------------------------------------------------


async def test_an_export_is_a_stream_of_lines():
    async with transferring() as t:
        await t.imported(lines(TEA, DOG))
        answer = await t.client.get("/v1/memories/export", headers=KEY)
        assert await t.texts() == ["Likes tea", "Has a beagle"]
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["cache-control"] == "no-store"
    assert "memories.jsonl" in answer.headers["content-disposition"]
    assert "content-length" not in answer.headers
    kinds = [json.loads(line)["type"] for line in answer.text.splitlines()]
    assert kinds == ["export", "settings", "memory", "memory", "end"]


async def test_it_is_imported_by_another_user():
    async with transferring() as t:
        await t.imported(lines(TEA, DOG))
        raw = (await t.client.get("/memories/export", headers=KEY)).content
        named = {"x-user-id": "ada"}
        for query in ({"keep_ids": "true", "dry_run": "1"}, {"keep_ids": "true"}):
            report = (await t.post(raw, named, **query)).json()
            assert (report["imported"], report["keep_ids"]) == (2, True)
        error(await t.post(raw.replace(b"mem_", b"mem_x"), named, keep_ids="true"),
              409, "conflict", "keep_ids")  # fmt: skip
        assert [line.get("id") for line in await t.exported(named)] == [
            line.get("id") for line in await t.exported()
        ]


async def test_a_head_has_no_lines():
    async with transferring() as t:
        await t.imported(lines(TEA))
        answer = await t.client.head("/memories/export", headers=KEY)
    assert (answer.status_code, answer.content) == (200, b"")


async def test_nobody_elses_memories_are_in_it():
    async with transferring() as t:
        await t.imported(lines(TEA))
        await t.post(lines({"text": "A canary"}), OTHER)
        await t.post(lines({"text": "A canary"}), {"x-user-id": "ada"})
        assert "canary" not in json.dumps(await t.exported())
        assert "canary" in json.dumps(await t.exported({"x-user-id": "ada"}))


class RevokedKeys(FakeKeys):
    """Every key is revoked once `left` more were looked up."""

    left = 10_000

    async def tenant_of(self, credential: str) -> str | None:
        self.left -= 1
        return await super().tenant_of(credential) if self.left >= 0 else None


async def test_a_stream_ends_when_its_key_is_revoked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(auth, "KEYS_SECONDS", 0.0)  # every page looks the key up
    keys = RevokedKeys(someone=["key"], other=["left"])
    async with transferring(keys) as t:
        await t.imported(lines(*({"text": f"Number {at}"} for at in range(1_000))))
        keys.left = 3
        answer = await t.client.get("/memories/export", headers=KEY)
        assert 0 < answer.text.count("Number") < 1_000
        assert '"end"' not in answer.text
        assert (await t.client.get("/memories/export", headers=KEY)).status_code == 401


async def test_a_store_that_fails_at_once_has_a_status(monkeypatch: pytest.MonkeyPatch):
    async with transferring() as t:

        async def broken(*_: object) -> None:
            raise StoreUnavailable("gone")

        monkeypatch.setattr(type(t.store), "state", broken)
        assert (await t.client.get("/memories/export", headers=KEY)).status_code == 503
