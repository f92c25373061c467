"""Rows at handlers: from one, a route is served and described."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree_proxy.openapi.operations import described_routes
from memtree_proxy.server.routing import described, family
from memtree_proxy.wire.operation import (
    KNOWN,
    READING,
    Operation,
    memory_operation,
    operation,
    operations,
)

PATH = "/teas/{tea}"


class Teas:
    @operation(f"GET {PATH}", "showTea", "Teas", "Show", "One.", answers={200: ("It.", "Tea")},
               errors=KNOWN, parameters=("tea",))  # fmt: skip
    async def show(self, request: Request) -> Response:
        return Response("shown")

    @operation(f"DELETE {PATH}", "dropTea", "Teas", "Drop", "One.", answers={200: ("Gone.", "Tea")},
               errors=(404, *KNOWN), deletes=("dry_run",))  # fmt: skip
    async def drop(self, request: Request) -> Response:
        return Response("gone")

    async def other(self, request: Request) -> Response:
        return Response("no route")


def test_the_handlers_of_a_path_are_one_route_under_each_prefix():
    assert {route.path for route in described(Teas())} == {
        PATH, f"/v1{PATH}", f"/api{PATH}", f"/api/v1{PATH}",
    }  # fmt: skip
    assert len(family("/teas", Teas())) == 8


def test_both_methods_are_described_with_their_errors_in_order():
    item = described_routes(Settings(), Teas)[PATH]
    assert [item["get"]["operationId"], item["delete"]["operationId"]] == ["showTea", "dropTea"]
    assert item["get"]["parameters"] == [{"$ref": "#/components/parameters/tea"}]
    statuses = [status for status in item["delete"]["responses"] if status != "200"]
    assert statuses == sorted(statuses)
    assert "404" in statuses
    assert [one["name"] for one in item["delete"]["parameters"]] == ["dry_run"]


def row_of_memories(route: str, **more: object) -> Operation:
    class Routes:
        @memory_operation("Teas")(route, "id", "Summary", "Says.", answers={}, **more)
        async def handler(self, request: Request) -> Response:
            return Response()

    ((row, name),) = operations(Routes)
    assert (name, row.tag) == ("handler", "Teas")
    return row


def test_a_route_of_memories_has_what_follows_from_its_path_and_its_body():
    plain = row_of_memories("GET /teas")
    assert (plain.parameters, plain.errors) == ((), KNOWN)
    of_path = row_of_memories("GET /teas/{tea}/cups/{cup}", parameters=("limit",), errors=(404,))
    assert of_path.parameters == ("tea", "cup", "limit")
    assert of_path.errors == (404, 400, *KNOWN)
    assert 400 in row_of_memories("DELETE /teas", deletes=("dry_run",)).errors
    posted = row_of_memories("POST /teas", body="Tea", parameters=("x-user-id",))
    assert (posted.parameters, posted.errors) == (("x-user-id", "content-encoding"), READING)


def test_a_parameter_that_a_row_names_itself_keeps_its_place():
    row = row_of_memories(
        "POST /teas/{tea}", body="Tea", parameters=("x-user-id", "tea", "content-encoding", "agent")
    )
    assert row.parameters == ("x-user-id", "tea", "content-encoding", "agent")
