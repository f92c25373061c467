"""The document at `/openapi.json` says what the code does: routes, fields, headers and errors."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from typing import Any

import httpx
import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.routing import Route

from memtree.agents.grant import Chain
from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.message import ROLES, Message, check_message
from memtree.history.message_shape import is_shaped
from memtree.ports import context_store
from memtree_proxy.chat import request_fields
from memtree_proxy.http import request_trace
from memtree_proxy.http.request_body import PREFIXES
from memtree_proxy.server.app import create_app
from memtree_proxy.wire.openapi import document
from tests.http.served.fakes import edge, real_memory, services, turn
from tests.http.wire.documented import (
    DOCUMENT,
    METHODS,
    check_answer,
    error_tree,
    found,
    operations,
    resolved,
    rooted,
    walk,
)
from tests.made.wallets import Wallet
from tests.programs.sessions import chat

SETTINGS = Settings()
COMPONENTS = DOCUMENT["components"]
EXAMPLE_WALLETS = (Wallet("Ada"), Wallet("Bob", Chain.SOLANA))
EXAMPLES = [
    pytest.param(path, method, name, shown["value"], id=f"{method} {path} {name}")
    for path, method, operation in operations()
    if "requestBody" in operation and path != "/ui/session"  # no code is good but a new one
    for name, shown in resolved(operation["requestBody"])["content"]["application/json"][
        "examples"
    ].items()
]


# -- the document itself ---------------------------------------------------------------------


def test_it_is_openapi_3_1():
    assert [error.message for error in OPENAPI_31_VALIDATOR.iter_errors(DOCUMENT)] == []


def test_every_schema_in_it_is_a_json_schema():
    for name, schema in COMPONENTS["schemas"].items():
        assert jsonschema_rs.meta.is_valid(schema), name
        rooted(schema)


def test_references_lead_somewhere_and_every_component_is_used():
    references = {
        value["$ref"] for value in walk(DOCUMENT) if isinstance(value, dict) and "$ref" in value
    }
    for reference in references:
        assert found(reference), reference
    parts = {
        f"#/components/{kind}/{name}"
        for kind, named in COMPONENTS.items()
        if kind != "securitySchemes"
        for name in named
    }
    assert parts == references


def test_operations_have_names_of_their_own_and_words_for_people():
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    for path, method, operation in operations():
        assert operation["summary"], (path, method)
        assert operation["description"], (path, method)
        assert set(operation["tags"]) <= tags
        assert {"200", "201", "204"} & set(operation["responses"])


# -- the same as the code --------------------------------------------------------------------


UPSTREAMS = {
    one
    for one in DOCUMENT["paths"]
    if one.startswith(("/chat_", "/messages", "/responses", "/openai/"))
}
OWN_PROTOCOL = {"/mcp"}  # MCP describes itself: `tools/list`


def paths_of_the_app() -> set[str]:
    app = create_app(services(None))
    return {
        route.path.removeprefix(prefix)
        for route in app.routes
        if isinstance(route, Route) and "{rest:" not in route.path
        if route.path not in OWN_PROTOCOL
        for prefix in [next(p for p in PREFIXES if route.path.startswith(p + "/"))]
    }


def test_every_route_of_ours_is_in_it_and_no_other():
    assert set(DOCUMENT["paths"]) == paths_of_the_app()
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/", "/v1", "/api", "/api/v1"]
    assert {server["url"] for server in DOCUMENT["servers"]} == {p or "/" for p in PREFIXES}


async def test_every_method_of_ours_is_in_it_and_no_other():
    async with edge(None, real_memory()) as client:
        for path, item in DOCUMENT["paths"].items():
            for method in ("GET", "POST", "DELETE", "PUT", "PATCH"):
                # No id, so that streams of events are refused and no memory is looked for.
                headers = {"accept": "text/html", "x-user-id": "{}"}
                answer = await client.request(method, path, headers=headers)
                if method.lower() in item:
                    assert answer.status_code not in (404, 405), (method, path)
                elif path in ("/", "/chat/completions", *UPSTREAMS):
                    assert answer.status_code == 503
                else:
                    allowed = {one.upper() for one in METHODS if one in item}
                    assert answer.status_code == 405
                    assert set(answer.headers["allow"].split(", ")) == allowed


def test_every_header_of_an_answer_is_in_it():
    seen = request_trace.Trace("POST", "/")
    for name in seen.memory.__struct_fields__:
        setattr(seen.memory, name, getattr(seen.memory, name) or 1)
    seen.request = seen.entry.id = "1"
    seen.memory.saved = seen.memory.degraded = seen.memory.forgotten = ("1",)
    names = {name.decode() for name, _ in seen.headers() + seen.own_ids()}
    assert names == set(COMPONENTS["headers"])


def test_every_error_of_the_tree_is_in_it_and_no_other():
    tree = {(one.status, one.code) for one in error_tree()}
    documented = {
        (int(name.removeprefix("Error")), code)
        for name, response in COMPONENTS["responses"].items()
        for code in response["content"]["application/json"]["schema"]["allOf"][1]["properties"][
            "error"
        ]["properties"]["code"]["enum"]
    }
    assert documented == tree
    used = {status for _, _, one in operations() for status in one["responses"]}
    assert used == {"200", "201", "202", "204", "304", "default"} | {
        str(status) for status, _ in tree
    }
    assert {400, 401, 403, 404, 405, 408, 413, 415, 429, 431, 502, 503, 504} <= {
        status for status, _ in tree
    }


@pytest.mark.parametrize("name", ["ContextOfMessages", "MessagesRequest"])
def test_one_message_is_a_whole_history(name: str):
    body = {"model": "m", "dialect": "messages", "messages": [{"role": "user", "content": "hi"}]}
    schema = rooted({"$ref": f"#/components/schemas/{name}"})
    assert schema.is_valid(body)
    assert not schema.is_valid(body | {"messages": []})


def test_roles_and_parts_are_those_of_the_code():
    assert set(COMPONENTS["schemas"]["Message"]["discriminator"]["mapping"]) == ROLES
    properties = COMPONENTS["schemas"]["Receipt"]["properties"]
    assert set(context_store.Receipt._fields) <= set(properties)


MESSAGES: list[tuple[dict[str, Any], bool]] = [
    ({"role": "user", "content": "a"}, True),
    ({"role": "user", "content": 5}, False),
    ({"role": "user"}, True),
    ({"role": "user", "content": None}, True),
    ({"role": "user", "content": {}}, False),
    ({"role": "wizard", "content": "a"}, False),
    ({"content": "a"}, False),
    ({"role": "developer", "content": [{"type": "text", "text": "a"}]}, True),
    ({"role": "user", "content": [{"type": "text"}]}, False),
    ({"role": "user", "content": [{"type": "input_text", "text": 5}]}, False),
    ({"role": "user", "content": [{"type": "image_url"}]}, True),
    ({"role": "user", "content": [{"type": "video", "text": 5}]}, True),
    ({"role": "user", "content": [{"text": "a"}]}, False),
    ({"role": "user", "content": ["a"]}, False),
    ({"role": "assistant", "content": "", "reasoning_content": "b"}, True),
    ({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}]}, True),
    ({"role": "assistant", "tool_calls": [{"id": "1", "custom": {"name": "f"}}]}, True),
    ({"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": "f"}}]}, False),
    ({"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}, False),
    ({"role": "assistant", "tool_calls": [{"id": "1"}]}, False),
    ({"role": "assistant", "tool_calls": [5]}, False),
    ({"role": "assistant", "tool_calls": {}}, False),
    ({"role": "assistant", "tool_calls": None}, True),
    (
        {"role": "assistant",
         "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {}}}]},
        True,
    ),
    (
        {"role": "assistant",
         "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": []}}]},
        False,
    ),
    ({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, True),
    ({"role": "assistant", "function_call": {"name": "f", "arguments": None}}, True),
    ({"role": "assistant", "function_call": {"arguments": "{}"}}, False),
    ({"role": "assistant", "tool_calls": [{"custom": {"name": "f", "input": 5}}]}, False),
    ({"role": "assistant", "tool_calls": [{"custom": {"name": "f", "arguments": []}}]}, False),
    ({"role": "assistant", "tool_calls": [{"custom": {"name": "f"}, "function": 5}]}, False),
    ({"role": "assistant", "tool_calls": [{"custom": {"name": "f"}, "function": {}}]}, True),
    ({"role": "assistant", "tool_calls": [{"function": {"name": "f"}, "custom": 5}]}, True),
    (
        {"role": "assistant", "function_call": {"name": "f", "arguments": "", "input": 5}},
        True,
    ),
    ({"role": "user", "content": "a", "tool_calls": 5}, False),
    ({"role": "system", "content": "a", "function_call": {}}, False),
    ({"role": "tool", "tool_call_id": "1", "content": "a"}, True),
    ({"role": "tool", "content": "a"}, True),
    ({"role": "tool", "tool_call_id": 5, "content": "a"}, False),
    ({"role": "function", "name": "f", "content": "a"}, True),
]  # fmt: skip


@pytest.mark.parametrize(("posted", "sound"), MESSAGES)
def test_a_message_is_documented_as_it_is_read(posted: dict[str, Any], sound: bool):
    assert rooted({"$ref": "#/components/schemas/Message"}).is_valid(posted) is sound
    assert is_shaped(posted) or not sound
    assert rooted({"$ref": "#/components/schemas/AnyMessage"}).is_valid(posted)
    check_message(Message.of(posted), "messages[0]")


@pytest.mark.parametrize("name", ["model_context_limit", "target_tokens", "expiration_days"])
@pytest.mark.parametrize("value", [0, 5, -3, 10**30, "7", "-1", None, "x", "", 1.5, True, [], {}])
def test_a_number_is_sound_by_the_document_where_it_is_by_the_code(name: str, value: Any):
    sound = rooted(COMPONENTS["schemas"]["ContextRequest"]["properties"][name]).is_valid(value)
    body = json_body.split(json.dumps({"messages": [{}], name: value}).encode())
    with nullcontext() if sound else pytest.raises(BadRequest, match=name):
        request_fields.context_ask("t", body, {}, SETTINGS)


# -- examples and answers --------------------------------------------------------------------


@pytest.mark.parametrize(("path", "method", "name", "value"), EXAMPLES)
async def test_every_example_works(path: str, method: str, name: str, value: Any, base: str):
    operation = DOCUMENT["paths"][path][method]
    schema = resolved(operation["requestBody"])["content"]["application/json"]["schema"]
    assert [error.message for error in rooted(schema).iter_errors(value)] == []
    async with edge(base, real_memory()) as client:
        if "address" in value:  # one that means something here
            posted = {"messages": chat(200), "index_only": True}
            indexed = await client.post("/context_memory", json=posted)
            value = {"address": indexed.json()["memory"]["address"]}
        path_, value = await real(client, path), await meant(client, path, value)
        if path == "/grants/revoke":  # by the owner of both wallets that the examples are signed by
            client.headers["x-api-key"] = "k"
            for wallet in EXAMPLE_WALLETS:
                headers = wallet.headers("POST", "/wallets", at=time.time())
                assert (await client.post("/wallets", headers=headers)).status_code == 200
        answer = await client.request(method, path_, json=value)
    # An example of `settle` names no conflict that is there.
    assert answer.status_code in (200, 201, 202) or path.endswith("/settle")
    if path not in ("/chat/completions", *UPSTREAMS):
        check_answer(path, method, answer)


async def real(client: httpx.AsyncClient, path: str) -> str:
    """The path with ids in it: of a chat, and of a memory or a conversation that is there."""
    if "{address}" in path:
        posted = {"messages": chat(200), "index_only": True}
        indexed = await client.post("/context_memory", json=posted)
        path = path.replace("{address}", indexed.json()["memory"]["address"])
    if "{memoryId}" in path:
        posted = {"messageId": "m", "content": "The head office is in Graz."}
        made = await client.post("/chat/api/c/memory", json=posted)
        path = path.replace("{memoryId}", made.json()["id"])
    if "{memory_id}" in path:
        made = await client.post("/memories", json={"text": "The head office is in Graz."})
        path = path.replace("{memory_id}", made.json()["id"])
    if "{group_id}" in path:
        group = await client.post("/memories/groups", json={"title": "Offices"})
        path = path.replace("{group_id}", group.json()["id"])
    if "{kind}" in path:
        fields = {"name": {"type": "string"}}
        document = {"type": "object", "properties": fields}
        await client.put("/schemas/Profile", json={"json_schema": document})
        path = path.replace("{kind}", "Profile")
    return path.replace("{chatId}", "c").replace("{namespace}", "n").replace("{documentId}", "d")


async def test_answers_about_documents_are_as_documented():
    root = "/rag/{namespace}"
    one = f"{root}/documents/{{documentId}}"
    asked = [
        ("get", "/rag"), ("get", root), ("get", f"{root}/documents"), ("get", one),
        ("get", f"{root}/search"), ("delete", one), ("delete", one), ("delete", root),
    ]  # fmt: skip
    async with edge(None) as client:
        for city, status in (("Graz", 201), ("Graz", 200), ("Linz", 201)):
            text = f"The head office is in {city}."
            posted = {"id": "d", "text": text, "metadata": {"a": [1, None]}, "type": "t"}
            answer = await client.post("/rag/n/documents", json=posted)
            assert answer.status_code == status
            check_answer(f"{root}/documents", "post", answer)
        for method, path in asked:
            target = await real(client, path) + "?query=office" * path.endswith("/search")
            answer = await client.request(method, target)
            check_answer(path, method, answer)
        assert answer.json() == {"deleted_passages": 0}


async def meant(client: httpx.AsyncClient, path: str, value: dict[str, Any]) -> dict[str, Any]:
    """An example with a memory that is there."""
    if "replaces" not in value:
        return value
    text = "The head office is in Linz."
    if path.startswith("/chat"):
        posted = {"messageId": "m", "content": text}
        older = await client.post("/chat/api/c/memory", json=posted)
    else:
        older = await client.post("/memories", json={"text": text})
    return {**value, "replaces": older.json()["id"]}


async def test_answers_of_user_memories_are_as_documented():
    root, group = "/memories", "/memories/groups/{group_id}"
    one = f"{root}/{{memory_id}}"
    asked = [
        ("get", root, {}), ("get", one, {}), ("get", f"{root}/search", {"query": "office"}),
        ("get", f"{one}/history", {}), ("get", f"{root}/tombstones", {}),
        ("get", f"{root}/settings", {}), ("get", f"{root}/groups", {}), ("get", group, {}),
        ("post", f"{one}/confirm", {}), ("delete", one, {}), ("delete", group, {}),
    ]  # fmt: skip
    async with edge(None, real_memory()) as client:
        for method, path, query in asked:
            at = await real(client, path)
            answer = await client.request(method, at, params=query)
            assert answer.status_code == 200, (method, path)
            check_answer(path, method, answer)


async def test_answers_of_chat_memory_are_as_documented():
    root = "/chat/api/{chatId}/memories"
    asked = [
        ("get", root, {}), ("get", f"{root}/{{memoryId}}", {}),
        ("get", f"{root}/search", {"query": "office"}), ("delete", f"{root}/{{memoryId}}", {}),
        ("post", f"{root}/{{memoryId}}/confirm", {}),
        ("get", f"{root}/{{memoryId}}/history", {}), ("get", f"{root}/tombstones", {}),
    ]  # fmt: skip
    async with edge(None) as client:
        for text in ("The head office is in Linz.", "The head office is in Wien."):
            posted = {"messageId": "m", "content": text}
            answer = await client.post("/chat/api/c/memory", json=posted)
            assert answer.status_code == 201
            check_answer("/chat/api/{chatId}/memory", "post", answer)
        assert answer.json()["possible_update_of"]
        for method, path, query in asked:
            answer = await client.request(method, await real(client, path), params=query)
            if method == "delete":
                assert (answer.status_code, answer.content) == (204, b"")
            else:
                check_answer(path, method, answer)
        for path, status in ((f"{root}/none", 404), (f"{root}/search", 400)):
            answer = await client.get(path.replace("{chatId}", "c"))
            assert answer.status_code == status
            check_answer(path.replace("none", "{memoryId}"), "get", answer)


@pytest.mark.parametrize("mode", ["stable", "fresh"])
async def test_folded_answers_are_as_documented(mode: str):
    long = {"messages": chat(400), "mode": mode, "target_tokens": 4_000, "explain": True}
    async with edge(None, real_memory()) as client:
        for path in ("/context_memory", "/memory", "/context_memory/tree"):
            answer = await client.post(path, json=long)
            check_answer(path, "post", answer)
        shown = (await client.post("/context_memory", json=long)).json()
        assert shown["memory"]["state"] == "packed"
        assert shown["explain"]["nodes"]
        gone = await client.post("/context_memory/delete", json={"all": True})
        check_answer("/context_memory/delete", "post", gone)
        assert gone.json()["nodes"] > 10
        for path in ("/context_memory/status", "/health", "/healthz"):
            check_answer(path, "get", await client.get(path))


async def test_errors_are_as_documented():
    async with edge(None, real_memory()) as client:
        for wrong in ({}, {**turn(1), "mode": "slow"}, {"messages": "hi"}):
            answer = await client.post("/context_memory", json=wrong)
            assert answer.status_code == 400
            check_answer("/context_memory", "post", answer)
        answer = await client.post("/context_memory/delete", json={"address": "00" * 32})
        assert answer.status_code == 404
        check_answer("/context_memory/delete", "post", answer)


async def test_it_is_served_at_the_root_to_anybody(base: str, upstream: Any):
    async with edge(base, host="0.0.0.0") as client:
        answer = await client.get("/openapi.json")
        others = [await client.head("/openapi.json"), await client.post("/openapi.json")]
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == document(Settings(host="0.0.0.0"))
    assert answer.text.startswith('{\n  "openapi": "3.1')
    assert [one.status_code for one in others] == [200, 405]
    assert not upstream.seen


async def test_beyond_loopback_a_credential_is_not_optional():
    assert {} in DOCUMENT["security"]
    assert {} not in document(Settings(host="0.0.0.0"))["security"]
    shown = document(Settings(metrics_key="operator-9"))
    assert {} not in shown["paths"]["/metrics"]["get"]["security"]
    assert "operator-9" not in json.dumps(shown)


async def test_under_a_prefix_it_is_the_upstreams(base: str, upstream: Any):
    async with edge(base) as client:
        await client.get("/v1/openapi.json")
    assert upstream.last.path == b"/up/v1/openapi.json"
