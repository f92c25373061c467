"""The routes of schemas, in both forms: each endpoint, field, status and error."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from memtree.agents.memory_schema import MAX_SCHEMAS
from tests.http.served.fakes import FakeKeys, FakeMemory, edge
from tests.http.wire.documented import check_answer
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
PROFILE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"name": {"type": "string"}, "favoriteColor": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
TEXT = json.dumps(PROFILE, indent=1)
PREFIXES = ["", "/v1", "/api", "/api/v1"]


def error(answer: httpx.Response) -> dict[str, Any]:
    shown: dict[str, Any] = answer.json()["error"]
    return shown


class Schemas:
    def __init__(self, client: httpx.AsyncClient, on: Opened) -> None:
        self.client, self.on = client, on

    async def ask(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        """`path`: below `/v1/schemas`."""
        headers = {**KEY, **more.pop("headers", {})}
        return await self.client.request(method, f"/v1/schemas{path}", headers=headers, **more)

    async def got(self, method: str, path: str = "", status: int = 200, **more: Any) -> Any:
        answer = await self.ask(method, path, **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def kinds(self, **more: Any) -> list[str]:
        return [row["kind"] for row in (await self.got("GET", **more))["schemas"]]


@asynccontextmanager
async def schemas(**settings: Any) -> AsyncIterator[Schemas]:
    async with opened() as on:
        made = edge(None, FakeMemory(), FakeKeys(), book=on.book, memories=on.store, **settings)
        async with made as client:
            yield Schemas(client, on)


@pytest.fixture
async def of() -> AsyncIterator[Schemas]:
    async with schemas() as made:
        yield made


# -- PUT, GET, DELETE /v1/schemas/{kind} ---------------------------------------------------------


async def test_a_schema_is_kept(of: Schemas):
    answer = await of.ask(
        "PUT", "/UserProfile", json={"json_schema": PROFILE, "uniqueOn": ["name"]}
    )
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    row = answer.json()["schema"]
    assert row == {
        "name": "UserProfile",
        "kind": "UserProfile",
        "description": "",
        "uniqueOn": ["name"],
        "schema": json.dumps(PROFILE, separators=(",", ":")),
        "json_schema": PROFILE,
        "createdAt": row["createdAt"],
        "updatedAt": row["createdAt"],
    }
    assert row["createdAt"] == of.on.clock.time * 1000
    assert await of.got("GET", "/UserProfile") == {"success": True, "schema": row}
    assert await of.got("GET") == {"success": True, "schemas": [row]}
    assert await of.got("DELETE", "/UserProfile") == {"success": True}
    assert await of.got("GET") == {"success": True, "schemas": []}


async def test_put_takes_the_place_of_what_is_there(of: Schemas):
    first = await of.got("PUT", "/A", 201, json={"json_schema": PROFILE, "description": "Old."})
    of.on.clock.time += 5
    second = await of.got("PUT", "/A", json={"json_schema": {"type": "object"}})
    assert second["schema"]["json_schema"] == {"type": "object"}
    assert second["schema"]["description"] == ""
    assert second["schema"]["createdAt"] == first["schema"]["createdAt"]
    assert second["schema"]["updatedAt"] == first["schema"]["updatedAt"] + 5_000


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_every_prefix(of: Schemas, prefix):
    for method, path, posted in (
        ("PUT", "/A", {"json_schema": PROFILE}),
        ("POST", "", {"name": "B", "schema": TEXT}),
        ("GET", "", None),
        ("GET", "/A", None),
        ("PATCH", "/A", {"description": "x"}),
        ("DELETE", "/A", None),
    ):
        answer = await of.client.request(
            method, f"{prefix}/schemas{path}", headers=KEY, json=posted
        )
        assert answer.status_code in (200, 201), answer.text


# -- the other form: POST, GET, PATCH, DELETE /schemas -------------------------------------------


async def test_a_client_of_the_other_form(of: Schemas):
    """Its text comes back as it was sent, and each answer has the fields that it reads."""
    posted = {
        "name": "UserProfile",
        "description": "Who.",
        "schema": TEXT,
        "uniqueOn": ["kind"],
    }
    made = await of.got("POST", status=201, json=posted)
    assert made["success"] is True
    shown = {name: made["schema"][name] for name in posted}
    assert shown == posted
    listed = await of.got("GET")
    assert [{name: one[name] for name in posted} for one in listed["schemas"]] == [posted]
    changed = await of.got("PATCH", "/UserProfile", json={"description": "Whom."})
    assert (changed["success"], changed["updated"]) == (True, True)
    assert changed["schema"] == {**made["schema"], "description": "Whom."}
    assert (await of.got("DELETE", "/UserProfile"))["success"] is True


async def test_created_again(of: Schemas):
    posted = {"name": "A", "description": "x", "schema": TEXT}
    first = await of.got("POST", status=201, json=posted)
    of.on.clock.time += 5
    assert await of.got("POST", json=posted) == first
    answer = await of.ask("POST", json={**posted, "uniqueOn": ["name"]})
    assert (answer.status_code, error(answer)["code"]) == (409, "conflict")
    assert "PATCH" in error(answer)["message"]


async def test_both_forms_name_the_same_fields(of: Schemas):
    await of.got(
        "POST", status=201, json={"name": "A", "json_schema": PROFILE, "unique_on": ["name"]}
    )
    await of.got("PUT", "/B", 201, json={"schema": PROFILE, "uniqueOn": None})
    await of.got("PUT", "/C", 201, json={"json_schema": TEXT, "schema": None})
    rows = (await of.got("GET"))["schemas"]
    assert [row["json_schema"] for row in rows] == [PROFILE] * 3
    assert [row["uniqueOn"] for row in rows] == [["name"], [], []]


async def test_a_patch_leaves_what_it_does_not_name(of: Schemas):
    await of.got("PUT", "/A", 201, json={"json_schema": PROFILE, "uniqueOn": ["name"]})
    for posted, unique_on, document in (
        ({"uniqueOn": ["favoriteColor", "favoriteColor"]}, ["favoriteColor"], PROFILE),
        ({"uniqueOn": []}, [], PROFILE),
        ({"schema": '{"type":"object"}'}, [], {"type": "object"}),
    ):
        row = (await of.got("PATCH", "/A", json=posted))["schema"]
        assert (row["uniqueOn"], row["json_schema"]) == (unique_on, document)
    answer = await of.ask("PATCH", "/A", json={"description": None})
    assert (answer.status_code, error(answer)["param"]) == (400, "schema")


# -- what is refused -----------------------------------------------------------------------------


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "json_schema"), ({"json_schema": None}, "json_schema"),
    ({"json_schema": 7}, "json_schema"), ({"json_schema": [PROFILE]}, "json_schema"),
    ({"json_schema": True}, "json_schema"),
    ({"schema": []}, "schema"), ({"json_schema": PROFILE, "schema": TEXT}, "schema"),
    ({"json_schema": PROFILE, "uniqueOn": "name"}, "uniqueOn"),
    ({"json_schema": PROFILE, "uniqueOn": [1]}, "uniqueOn[0]"),
    ({"json_schema": PROFILE, "uniqueOn": ["name"] * 101}, "uniqueOn"),
    ({"json_schema": PROFILE, "uniqueOn": [], "unique_on": []}, "unique_on"),
    ({"json_schema": PROFILE, "description": 7}, "description"),
    ({"json_schema": PROFILE, "description": "x" * 2_001}, "description"),
    ({"json_schema": PROFILE, "description": "\0"}, "description"),
]  # fmt: skip
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"json_schema": PROFILE, "uniqueOn": ["email"]}, "uniqueOn[0]"),
    ({"json_schema": {"type": "string"}}, "schema"), ({"json_schema": ""}, "schema"),
    ({"json_schema": {"type": "object", "properties": {"a": {"type": "x"}}}}, "schema"),
    ({"json_schema": "{"}, "schema"),
    ({"json_schema": {**PROFILE, "title": "x" * 16_000}}, "schema"),
]  # fmt: skip


async def test_fields_that_are_wrong(of: Schemas):
    for rows, status, code in ((WRONG, 400, "invalid_request"), (INVALID, 422, "invalid_schema")):
        for posted, param in rows:
            answer = await of.ask("PUT", "/A", json=posted)
            assert (answer.status_code, error(answer)["param"]) == (status, param), answer.text
            assert error(answer)["code"] == code
    assert await of.kinds() == []


async def test_names(of: Schemas):
    for kind in ("a b", "ä", "x" * 65, "a%2Fb", ".a", "a:b", "%00", "a\u202e"):
        posted = {"json_schema": PROFILE}
        for method, body in (("GET", None), ("DELETE", None), ("PUT", posted)):
            answer = await of.ask(method, f"/{kind}", json=body)
            assert answer.status_code in (400, 404)
        answer = await of.ask("POST", json={"name": kind, "schema": TEXT})
        assert (answer.status_code, error(answer)["param"]) == (400, "name")
    assert await of.kinds() == []
    kinds = ("UserProfile", "temporal_event", "a", "x" * 64, "v1.2-b", "_x", "7")
    for kind in kinds:
        await of.got("PUT", f"/{kind}", 201, json={"json_schema": PROFILE})
    assert set(await of.kinds()) == set(kinds)


async def test_a_name_is_required(of: Schemas):
    for posted, param in (
        ({"schema": TEXT}, "name"), ({"name": 7, "schema": TEXT}, "name"),
        ({"name": "A"}, "schema"), ({"name": "A", "schema": 7}, "schema"),
    ):  # fmt: skip
        answer = await of.ask("POST", json=posted)
        assert (answer.status_code, error(answer)["param"]) == (400, param)


async def test_one_that_is_not_there(of: Schemas):
    await of.got("PUT", "/UserProfile", 201, json={"json_schema": PROFILE})
    for method, posted in (("GET", None), ("PATCH", {"description": "x"}), ("DELETE", None)):
        answer = await of.ask(method, "/userProfil", json=posted)
        assert (answer.status_code, error(answer)["param"]) == (404, "kind")
    assert "The nearest is UserProfile" in error(await of.ask("GET", "/userProfil"))["message"]


async def test_a_tenant_has_fifty(of: Schemas):
    for at in range(MAX_SCHEMAS):
        await of.got("PUT", f"/Kind{at:02}", 201, json={"json_schema": PROFILE})
    answer = await of.ask("PUT", "/OneMore", json={"json_schema": PROFILE})
    assert (answer.status_code, error(answer)["code"]) == (409, "conflict")
    answer = await of.ask("POST", json={"name": "OneMore", "schema": TEXT})
    assert answer.status_code == 409
    await of.got("PUT", "/Kind07", json={"json_schema": PROFILE, "uniqueOn": ["name"]})
    await of.got("DELETE", "/Kind07")
    await of.got("PUT", "/OneMore", 201, json={"json_schema": PROFILE})


async def test_schemas_are_the_tenants(of: Schemas):
    other: dict[str, Any] = {"headers": {"authorization": "Bearer other"}}
    await of.got("PUT", "/A", 201, json={"json_schema": PROFILE})
    await of.got("PUT", "/A", 201, json={"json_schema": {"type": "object"}}, **other)
    assert (await of.got("GET", "/A"))["schema"]["json_schema"] == PROFILE
    await of.got("DELETE", "/A", **other)
    assert await of.kinds(**other) == []
    assert await of.kinds(headers={"x-user-id": "u1"}) == ["A"]


async def test_other_methods_and_paths(of: Schemas):
    for method, path, status in (
        ("PUT", "", 405), ("DELETE", "", 405), ("POST", "/A", 405), ("GET", "/A/B", 404),
        ("GET", "/", 200),
    ):  # fmt: skip
        assert (await of.ask(method, path)).status_code == status, (method, path)


# -- as documented -------------------------------------------------------------------------------


async def test_answers_are_as_documented(of: Schemas):
    posted = {"name": "Profile", "schema": '{"type":"object"}'}
    for status in (201, 200):
        answer = await of.ask("POST", json=posted)
        assert answer.status_code == status
        check_answer("/schemas", "post", answer)
    check_answer("/schemas", "get", await of.ask("GET"))
    for method, path, body, status in (
        ("put", "/Profile", {"json_schema": {"type": "object"}}, 200),
        ("get", "/Profile", None, 200),
        ("patch", "/Profile", {"description": "Who."}, 200),
        ("delete", "/Profile", None, 200),
        ("get", "/None", None, 404),
        ("get", "/-", None, 400),
    ):
        answer = await of.ask(method.upper(), path, json=body)
        assert answer.status_code == status, (method, path)
        check_answer("/schemas/{kind}", method, answer)


# -- bombs, as they would be posted: all of them stand in the unit tests of schemas ---------------


def doubling(times: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"n0": {"type": "object"}}
    for at in range(1, times + 1):
        definitions[f"n{at}"] = {"allOf": [{"$ref": f"#/$defs/n{at - 1}"}] * 2}
    return {"type": "object", "$defs": definitions, "$ref": f"#/$defs/n{times}"}


async def test_bombs(of: Schemas):
    for bomb, says in (
        (json.dumps(doubling(25)), "more than 1,000 sub-schemas"),
        ('{"a":' * 2_000 + "1" + "}" * 2_000, "deeper than 64 levels"),
        ('{"type":"object","title":"\\ud800"}', "half a character"),
    ):
        for path, method, name in (("/A", "PUT", "json_schema"), ("", "POST", "schema")):
            for value in (bomb, json.dumps(bomb)):
                posted = f'{{"name":"A","{name}":{value}}}'
                headers = {"content-type": "application/json"}
                answer = await of.ask(method, path, content=posted, headers=headers)
                assert answer.status_code in (400, 422), answer.text
                assert answer.status_code == 400 or says in error(answer)["message"]
    assert await of.kinds() == []
