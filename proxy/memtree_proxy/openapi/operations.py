"""What operations of the document share: their frame, and the statuses that they may answer."""

from __future__ import annotations

from memtree_proxy.openapi import headers
from memtree_proxy.openapi.shapes import Json, content

ALWAYS = (403, 405, 421, 431, 500)
KNOWN = (401, 408, 429, 503, *ALWAYS)  # where a credential is looked at
READING = (400, 413, 415, *KNOWN)  # where a body is read
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
