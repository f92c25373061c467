"""The server's own upstream key: lent for routes, and for what a tenant made here."""

from __future__ import annotations

import asyncio
import gzip
import json
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from memtree.stores import RamStore, open_memories
from memtree_proxy.server import app
from memtree_proxy.server.app import create_app
from memtree_proxy.upstream.server_key import OwnObjects, digest_of
from tests.docs.pages import block
from tests.http.served.fakes import FakeKeys, edge, services
from tests.http.served.running import PATIENCE, running
from tests.http.served.upstream import FakeUpstream

ANN, BOB = {"authorization": "Bearer A"}, {"authorization": "Bearer B"}
OWN = {"x-memtree-key": "A", "authorization": "Bearer sk-client"}
ID = "made_by_nobody"
STORED = [
    ("GET", "/v1/files"),
    ("POST", "/v1/files"),
    ("GET", f"/v1/files/{ID}"),
    ("DELETE", f"/v1/files/{ID}"),
    ("GET", f"/v1/files/{ID}/content"),
    ("GET", "/v1/chat/completions"),
    ("GET", f"/v1/chat/completions/{ID}"),
    ("POST", f"/v1/chat/completions/{ID}"),
    ("DELETE", f"/v1/chat/completions/{ID}"),
    ("GET", f"/v1/chat/completions/{ID}/messages"),
    ("GET", f"/v1/responses/{ID}"),
    ("DELETE", f"/v1/responses/{ID}"),
    ("POST", f"/v1/responses/{ID}/cancel"),
    ("GET", f"/v1/responses/{ID}/input_items"),
    ("GET", f"/v1/conversations/{ID}/items"),
    ("DELETE", f"/v1/conversations/{ID}"),
    ("GET", "/v1/vector_stores"),
    ("DELETE", f"/v1/vector_stores/{ID}"),
    ("GET", "/v1/batches"),
    ("POST", f"/v1/batches/{ID}/cancel"),
    ("POST", "/v1/messages/batches"),
    ("GET", f"/v1/messages/batches/{ID}/results"),
    ("GET", "/v1/assistants"),
    ("DELETE", f"/v1/threads/{ID}"),
    ("GET", f"/v1/containers/{ID}/files"),
    ("POST", "/v1/fine_tuning/jobs"),
    ("DELETE", "/v1/models/ft:gpt:mine"),
]
TRICKS = [
    "/v1//files",
    "/v1/Files",
    "/V1/files",
    "/v1/%66iles",
    "/v1/files/",
    "/v1/files%2f",
    "/v1/v1/files",
    "/v1/models/..%2ffiles",
    "/v1/models/%2e%2e/files",
    "/v1/models/%252e%252e/files",
    "/v1/models/..;/files",
    "/v1/models%5c..%5cfiles",
    "/v1/models//files%00",
]
NAMING: dict[str, tuple[str, dict[str, Any]]] = {
    "file": ("/v1/responses", {"input": [{"role": "user", "content": [
        {"type": "input_file", "file_id": ID}]}]}),
    "image": ("/v1/responses", {"input": [{"role": "user", "content": [
        {"type": "input_image", "file_id": ID}]}]}),
    "tool output": ("/v1/responses", {"input": [{"type": "function_call_output", "call_id": "c",
        "output": [{"type": "input_file", "file_id": ID}]}]}),
    "vector store": ("/v1/responses", {"input": "x", "tools": [
        {"type": "file_search", "vector_store_ids": [ID]}]}),
    "container": ("/v1/responses", {"input": "x", "tools": [
        {"type": "code_interpreter", "container": ID}]}),
    "files of a container": ("/v1/responses", {"input": "x", "tools": [
        {"type": "code_interpreter", "container": {"type": "auto", "file_ids": [ID]}}]}),
    "prompt": ("/v1/responses", {"prompt": {"id": ID, "version": "1"}}),
    "conversation": ("/v1/responses", {"input": "x", "conversation": ID}),
    "conversation object": ("/v1/responses", {"input": "x", "conversation": {"id": ID}}),
    "item": ("/v1/responses", {"input": [{"type": "item_reference", "id": ID}]}),
    "item without a type": ("/v1/responses", {"input": [{"id": ID}]}),
    "reasoning": ("/v1/responses", {"input": [{"type": "reasoning", "id": ID, "summary": []}]}),
    "generated image": ("/v1/responses", {"input": [{"type": "image_generation_call", "id": ID}]}),
    "previous": ("/v1/responses", {"input": "x", "previous_response_id": ID}),
    "counted": ("/v1/responses/input_tokens", {"input": "x", "previous_response_id": ID}),
    "chat file": ("/v1/chat/completions", {"messages": [{"role": "user", "content": [
        {"type": "file", "file": {"file_id": ID}}]}]}),
    "chat voice": ("/v1/chat/completions", {"messages": [
        {"role": "assistant", "audio": {"id": ID}}, {"role": "user", "content": "x"}]}),
    "document": ("/v1/messages", {"messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "file", "file_id": ID}}]}]}),
    "counted document": ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "file", "file_id": ID}}]}]}),
    "message container": ("/v1/messages", {"container": ID, "messages": [
        {"role": "user", "content": "x"}]}),
    "thread": ("/v1/messages", {"thread": {"type": "continue", "previous_message_id": ID},
        "messages": [{"role": "user", "content": "x"}]}),
    "skill": ("/v1/messages", {"container": {"skills": [{"type": "custom", "skill_id": ID}]},
        "messages": [{"role": "user", "content": "x"}]}),
}  # fmt: skip
HARMLESS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("/v1/chat/completions", {"messages": [
        {"role": "user", "content": 'the "file_id": "f" of \\u0061 {"id": "x"}'}]}),
    "tools": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "tools": [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object",
         "properties": {"file_id": {"type": "string"}, "container": {"type": "string"}}}}}]}),
    "tool calls": ("/v1/messages", {"messages": [{"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "docker",
         "input": {"container_id": "c1", "file_id": "f"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]}),
    "metadata": ("/v1/responses", {"input": "x", "metadata": {"file_id": "f", "id": "y"}}),
    "own items": ("/v1/responses", {"store": False, "input": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"role": "user", "content": "x"}]}),
    "automatic container": ("/v1/responses", {"input": "x", "tools": [
        {"type": "code_interpreter", "container": {"type": "auto"}}]}),
    "vendor's skill": ("/v1/messages", {"container": {"skills": [
        {"type": "anthropic", "skill_id": "pptx"}]}, "messages": [
        {"role": "user", "content": "x"}]}),
    "diagnostics": ("/v1/messages", {"diagnostics": {"previous_message_id": "msg_1"},
        "messages": [{"role": "user", "content": "x"}]}),
    "text completion": ("/v1/completions", {"prompt": "once upon a time"}),
}  # fmt: skip


@asynccontextmanager
async def lending(base: str, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    keys = FakeKeys(ann=["A"], bob=["B"])
    async with edge(base, keys=keys, upstream_api_key="sk-up", **changes) as client:
        yield client


@pytest.fixture(autouse=True)
def _nobody_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process writes and reads, so what it does not know at once nobody will tell it."""
    monkeypatch.setattr(app, "OwnObjects", lambda store: OwnObjects(store, look_again=0))


def answers(upstream: FakeUpstream, value: Any) -> None:
    upstream.mode = "bytes"
    upstream.answer_headers = [(b"content-type", b"application/json")]
    upstream.answer_body = json.dumps(value).encode()


async def test_stored_objects_of_the_provider_are_out_of_reach(base: str, upstream: FakeUpstream):
    async with lending(base) as client:
        for method, path in STORED:
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            upstream.seen.clear()
            answer = await client.request(method, path, headers=ANN, **body)
            assert (answer.status_code, upstream.seen) == (403, []), path
            assert "passthrough_routes" in answer.text or "was not made here" in answer.text
            assert (await client.request(method, path, headers=OWN, **body)).status_code == 200
            assert upstream.last.header("authorization") == ["Bearer sk-client"]


async def test_no_spelling_of_a_path_goes_round_it(base: str, upstream: FakeUpstream):
    async with lending(base) as client:
        for path in TRICKS:
            answer = await client.get(path, headers=ANN)
            assert (answer.status_code in (400, 403), upstream.seen) == (True, []), path


async def test_a_request_that_names_what_was_not_made_here(base: str, upstream: FakeUpstream):
    async with lending(base) as client:
        for named, (path, body) in NAMING.items():
            upstream.seen.clear()
            answer = await client.post(path, json={"model": "m", **body}, headers=ANN)
            assert (answer.status_code, upstream.seen) == (403, []), named
            assert (await client.post(path, json=body, headers=OWN)).status_code == 200


async def test_words_that_look_like_ids_pass(base: str, upstream: FakeUpstream):
    async with lending(base) as client:
        for harmless, (path, body) in HARMLESS.items():
            answer = await client.post(path, json={"model": "m", **body}, headers=ANN)
            assert answer.status_code == 200, harmless
            assert upstream.last.header("authorization") == ["Bearer sk-up"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"input":[{"type":"item_reference","id":"mine","id":"foreign"}]}',
        b'{"input":[{"\\u0074ype":"item_reference","\\u0069d":"foreign"}]}',
        b'{"input":"x","previous\\u005fresponse_id":"foreign"}',
        b'{"input":[{"file_id":"a","file_id":"b","x":{"fil\\u0065_id":"a"}}]}',
        b'{"input":"x","input":[{"id":"foreign"}]}',
        b'{"input":"x"} {"previous_response_id":"foreign"}',
        b"\xff\xfe{",
        b"[1]",
    ],
)
async def test_a_body_that_two_readers_may_read_differently(
    body: bytes, base: str, upstream: FakeUpstream
):
    async with lending(base) as client:
        for path in ("/v1/responses", "/v1/responses/compact"):
            for more in ({}, {"content-type": "multipart/form-data; boundary=x"}):
                answer = await client.post(path, content=body, headers={**ANN, **more})
                assert (answer.status_code in (400, 415), upstream.seen) == (True, [])


async def test_a_packed_body_is_looked_into(base: str, upstream: FakeUpstream):
    body = gzip.compress(json.dumps({"input": "x", "previous_response_id": ID}).encode())
    headers = {**ANN, "content-encoding": "gzip"}
    async with lending(base) as client:
        for path in ("/v1/responses", "/v1/responses/compact"):
            answer = await client.post(path, content=body, headers=headers)
            assert (answer.status_code, upstream.seen) == (403, [])
        answer = await client.post(
            "/v1/responses", content=body, headers={**ANN, "content-encoding": "br"}
        )
        assert (answer.status_code, upstream.seen) == (400, [])


async def test_other_ids_look_the_same(
    base: str, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
):
    time = [1_000_000.0]
    monkeypatch.setattr(app, "OwnObjects", lambda s: OwnObjects(s, lambda: time[0], look_again=0))
    told = set()

    def seen(answer: httpx.Response) -> tuple[int, str]:
        number = answer.headers["x-memtree-request"]
        return answer.status_code, answer.text.replace(number, "")

    async with lending(base) as client:
        for id_, headers in (("resp_old", ANN), ("resp_bob", BOB)):
            answers(upstream, {"id": id_, "object": "response", "output": []})
            await client.post("/v1/responses", json={"input": "x"}, headers=headers)
            assert (await client.get(f"/v1/responses/{id_}", headers=headers)).status_code == 200
            time[0] += 31 * 86_400 if headers is ANN else 0
        count = len(upstream.seen)
        for id_ in ("resp_old", "resp_bob", "resp_unknown"):
            for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/cancel")):
                answer = await client.request(method, f"/v1/responses/{id_}{path}", headers=ANN)
                told.add(seen(answer))
            body = {"input": "x", "previous_response_id": id_}
            answer = await client.post("/v1/responses", json=body, headers=ANN)
            told.add(seen(answer))
    assert len(told) == 1
    assert next(iter(told))[0] == 403
    assert len(upstream.seen) == count


@pytest.mark.parametrize(
    ("path", "asked", "id_", "routes"),
    [
        ("/v1/responses", {"input": "x"}, "resp_1", [
            ("GET", ""), ("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")]),
        ("/v1/responses", {"input": "x", "background": True, "store": True}, "resp_1", [
            ("GET", "?stream=true"), ("POST", "/cancel")]),
        ("/v1/chat/completions", {"store": True, "messages": [{"role": "user", "content": "x"}]},
         "chatcmpl-1", [("GET", ""), ("GET", "/messages"), ("POST", ""), ("DELETE", "")]),
    ],
)  # fmt: skip
async def test_what_a_tenant_stored_is_its_own(
    path: str, asked: Any, id_: str, routes: Any, base: str, upstream: FakeUpstream
):
    async with lending(base) as client:
        answers(
            upstream, {"id": id_, "object": "x", "output": [{"type": "message", "id": "msg_1"}]}
        )
        answer = await client.post(path, json={"model": "m", **asked}, headers=ANN)
        assert answer.content == upstream.answer_body
        for method, rest in routes:
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            answer = await client.request(method, f"{path}/{id_}{rest}", headers=ANN, **body)
            assert answer.status_code == 200
            answer = await client.request(method, f"{path}/{id_}{rest}", headers=BOB, **body)
            assert answer.status_code == 403
        if path == "/v1/responses":
            for headers, status in ((ANN, 200), (BOB, 403)):
                items = [{"type": "item_reference", "id": "msg_1"}]
                again = {"input": items, "previous_response_id": id_}
                answer = await client.post(path, json=again, headers=headers)
                assert answer.status_code == status


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/responses", {"input": "x", "store": False}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}),
    ],
)
async def test_what_is_not_stored_is_not_recorded(
    path: str, asked: Any, base: str, upstream: FakeUpstream
):
    async with lending(base) as client:
        answers(upstream, {"id": "x_1", "object": "x"})
        await client.post(path, json={"model": "m", **asked}, headers=ANN)
        assert (await client.get(f"{path}/x_1", headers=ANN)).status_code == 403


async def test_a_thread_is_its_tenants(base: str, upstream: FakeUpstream):
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    async with lending(base) as client:
        answers(upstream, {"id": "msg_1", "type": "message", "content": []})
        body["thread"] = {"type": "create"}
        await client.post("/v1/messages", json=body, headers=ANN)
        body["thread"] = {"type": "continue", "previous_message_id": "msg_1"}
        for headers, status in ((BOB, 403), (ANN, 200)):
            answer = await client.post("/v1/messages", json=body, headers=headers)
            assert answer.status_code == status


async def test_what_is_made_in_the_background_is_told_when_it_is_asked_for(
    base: str, upstream: FakeUpstream
):
    made = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1"}
    path = "/v1/containers/cntr_1/files/cfile_1/content"
    async with lending(base) as client:
        answers(upstream, {"id": "resp_1", "status": "queued", "output": []})
        await client.post("/v1/responses", json={"input": "x", "background": True}, headers=ANN)
        cited = {"type": "container_file_citation", "container_id": "cntr_1", "file_id": "cfile_1"}
        said = {"type": "message", "id": "msg_1", "content": [
            {"type": "output_text", "text": "see", "annotations": [cited]}]}  # fmt: skip
        answers(upstream, {"id": "resp_1", "status": "completed", "output": [made, said]})
        assert (await client.get(path, headers=ANN)).status_code == 403
        await client.get("/v1/responses/resp_1", headers=ANN)
        for headers, status in ((ANN, 200), (BOB, 403)):
            assert (await client.get(path, headers=headers)).status_code == status


async def test_what_a_file_says_makes_nothing(base: str, upstream: FakeUpstream):
    routes = ("POST /files", "GET /files/{id}/content", "GET /responses/{id}")
    async with lending(base, passthrough_routes=routes) as client:
        answers(upstream, {"id": "file-1"})
        await client.post("/v1/files", files={"file": b"x"}, headers=ANN)
        answers(upstream, {"id": "resp_bob", "output": [{"id": "msg_bob"}]})
        assert (await client.get("/v1/files/file-1/content", headers=ANN)).status_code == 200
        assert (await client.get("/v1/responses/resp_bob", headers=ANN)).status_code == 403


async def test_a_refused_request_made_nothing(base: str, upstream: FakeUpstream):
    async with lending(base) as client:
        answers(upstream, {"id": "resp_1", "error": {"message": "no"}})
        upstream.answer_status = 400
        await client.post("/v1/responses", json={"input": "x"}, headers=ANN)
        assert (await client.get("/v1/responses/resp_1", headers=ANN)).status_code == 403


async def test_an_operator_may_lend_more(base: str, upstream: FakeUpstream):
    example = block("docs/keys.md", "lending")
    routes = (*tomllib.loads(example)["passthrough_routes"], "GET /batches")
    files = {"file": ("a.txt", b"text")}
    async with lending(base, passthrough_routes=routes) as client:
        answers(upstream, {"id": "file-1", "object": "file"})
        assert (await client.post("/v1/files", files=files, headers=ANN)).status_code == 200
        for headers, status in ((ANN, 200), (BOB, 403)):
            assert (await client.get("/v1/files/file-1", headers=headers)).status_code == status
            assert (await client.head("/v1/files/file-1", headers=headers)).status_code == status
            body = {"input": [{"role": "user", "content": [{"file_id": "file-1"}]}]}
            answer = await client.post("/v1/responses", json=body, headers=headers)
            assert answer.status_code == status
        assert (await client.get("/v1/batches", headers=BOB)).status_code == 200
        assert (await client.post("/v1/embeddings", json={}, headers=ANN)).status_code == 200
        assert (await client.post("/v1/completions", json={}, headers=ANN)).status_code == 403


async def test_an_operator_may_lend_everything(base: str, upstream: FakeUpstream):
    async with lending(base, passthrough_routes=("* /*",)) as client:
        for method, path in STORED:
            assert (await client.request(method, path, headers=ANN)).status_code == 200
        body = {"input": "x", "previous_response_id": ID}
        assert (await client.post("/v1/responses", json=body, headers=ANN)).status_code == 200
    assert len(upstream.seen) == len(STORED) + 1


async def test_no_header_names_another_method(base: str, upstream: FakeUpstream):
    tricks = {"X-HTTP-Method-Override": "DELETE", "x-original-url": "/v1/files"}
    async with lending(base) as client:
        await client.get("/v1/models/m", headers={**ANN, **tricks})
        assert not upstream.last.header("x-http-method-override")
        assert not upstream.last.header("x-original-url")
        await client.get("/v1/models/m", headers={**OWN, **tricks})
        assert upstream.last.header("x-http-method-override") == ["DELETE"]
        # Whoever takes his own key out again is lent the server's.
        headers = {**OWN, "connection": "authorization"}
        assert (await client.get("/v1/files", headers=headers)).status_code == 403


async def test_what_was_made_is_known_to_other_processes(base: str, upstream: FakeUpstream):
    memories = open_memories(RamStore())
    answers(upstream, {"id": "resp_1", "output": []})
    async with lending(base, memories=memories) as client:
        await client.post("/v1/responses", json={"input": "x"}, headers=ANN)
    async with asyncio.timeout(PATIENCE):
        while not await memories.known_objects([digest_of("ann", "resp_1")]):  # noqa: ASYNC110
            await asyncio.sleep(0)
    async with lending(base, memories=memories) as client:
        for headers, status in ((ANN, 200), (BOB, 403)):
            answer = await client.get("/v1/responses/resp_1", headers=headers)
            assert answer.status_code == status


def sse(*events: Any) -> bytes:
    return b"".join(b"event: x\r\ndata: " + json.dumps(e).encode() + b"\r\n\r\n" for e in events)


STREAM = sse(
    {"type": "response.created", "response": {"id": "resp_1", "metadata": {"id": "resp_bob"}}},
    {"type": "response.output_item.added", "item": {"type": "message", "id": "msg_1"}},
    {"type": "response.output_text.delta", "item_id": "msg_1", "delta": '"id": "resp_bob"'},
    {"type": "response.completed", "response": {"id": "resp_1", "output": [
        {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1"}]}},
)  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
async def test_a_stream_passes_byte_for_byte_and_its_ids_are_known(
    packed: bool, size: int, base: str, upstream: FakeUpstream
):
    stream = gzip.compress(STREAM, mtime=0) if packed else STREAM
    upstream.mode = "script"
    upstream.answer_headers = [(b"content-encoding", b"gzip")] if packed else []
    upstream.script = [stream[at : at + size] for at in range(0, len(stream), size)]
    async with lending(base) as client:
        asked = {"input": "x", "stream": True}
        async with client.stream("POST", "/v1/responses", json=asked, headers=ANN) as answer:
            got = b"".join([piece async for piece in answer.aiter_raw()])
        assert got == stream
        for id_, status in (("resp_1", 200), ("resp_bob", 403)):
            answer = await client.get(f"/v1/responses/{id_}", headers=ANN)
            assert answer.status_code == status
        body = {
            "input": [{"type": "item_reference", "id": id_} for id_ in ("msg_1", "ci_1")],
            "tools": [{"type": "code_interpreter", "container": "cntr_1"}],
        }
        for headers, status in ((ANN, 200), (BOB, 403)):
            answer = await client.post("/v1/responses", json=body, headers=headers)
            assert answer.status_code == status


async def test_an_event_is_not_held_back_for_its_ids(base: str, upstream: FakeUpstream):
    """The ids in a stream's beginning are known while the stream goes on."""
    upstream.mode = "script"
    upstream.script = [STREAM[:200], "hang"]
    own = {"input": "x", "previous_response_id": "resp_1"}
    keys = FakeKeys(ann=["A"], bob=["B"])
    built = services(base, keys=keys, upstream_api_key="sk-up")
    with running(create_app(built), built.upstreams) as address:
        async with httpx.AsyncClient(base_url=address, headers=ANN, timeout=PATIENCE) as client:
            asked = {"input": "x", "stream": True}
            async with client.stream("POST", "/v1/responses", json=asked) as answer:
                got = b""
                async for piece in answer.aiter_raw():
                    got += piece
                    if len(got) >= 200:
                        break
                assert got == STREAM[:200]
                upstream.mode = "json"
                assert (await client.post("/v1/responses", json=own)).status_code == 200
