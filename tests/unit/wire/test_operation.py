"""Rows at handlers: from one, a route is served and described."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree_proxy.openapi.memories.parts import described_routes
from memtree_proxy.server.routing import described, family
from memtree_proxy.wire.operation import KNOWN, operation

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
