"""Shared parts of the document's operations: their frame, and the statuses that they may answer."""

from __future__ import annotations

from memtree_proxy.openapi import headers
from memtree_proxy.wire.json_schema import Json, content

UPSTREAM = (502, 504)


def operation(
    id_: str, tag: str, summary: str, description: str, responses: Json, **more: object
) -> Json:
    return {
        "operationId": id_,
        "tags": [tag],
        "summary": summary,
        "description": description,
        **more,
        "responses": responses,
    }


def ok(description: str, shape: Json, media: str = "application/json", **more: Json) -> Json:
    more = {"headers": headers.of_every(), **more}
    return {"description": description, **more, "content": content(shape, media)}
