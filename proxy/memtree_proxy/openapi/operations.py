"""Build operations of the document: their frame, their answers, and shared parameters."""

from __future__ import annotations

from collections import defaultdict

from memtree.config import Settings
from memtree_proxy.access.event_streams import LAST_EVENT_HEADER
from memtree_proxy.memories.requests import IF_MATCH_HEADER
from memtree_proxy.openapi import failures, headers
from memtree_proxy.wire.json_schema import STRING, Json, content, either, ref, schema
from memtree_proxy.wire.operation import Operation, operations
from memtree_proxy.wire.parameter import OFF, header, purge, query

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


def parameters() -> dict[str, Json]:
    """Return the `components.parameters` that several dialects share, by name."""
    given = [
        query(
            "cursor",
            "`next_cursor` of the page before.",
            {"type": "string", "pattern": "^[0-9]{1,18}$"},
        ),
        header(
            IF_MATCH_HEADER,
            "The version that the change is meant for, as `etag` told it; another one is a 409. "
            "`*`, or none: any version.",
            {
                "type": "string",
                "pattern": r'^(\*|(W/)?"[0-9]{1,18}"|[0-9]{1,18})$',
                "examples": ['"3"'],
            },
        ),
        header(
            LAST_EVENT_HEADER,
            "The id of the last event that was seen: what changed since comes first.",
            {"type": "integer", "examples": [12]},
        ),
    ]
    return {parameter["name"]: parameter for parameter in given}


def _counted(responses: Json) -> Json:
    """Return the responses of a deletion, adding its dry run, which also answers 200."""
    counted = {**answer("How much would go.", "DryRun"), **responses.get("200", {})}
    if "200" in responses:
        gone = responses["200"]["content"]["application/json"]["schema"]
        counted["content"] = content(either(gone, schema("DryRun")))
    return {**responses, "200": counted}


def answer(description: str | Json, *shapes: str | Json, etag: bool | None = False) -> Json:
    """Describe an answer. `shapes`: names of its possible shapes, or its whole content, or nothing.
    `etag`: True if answers have an ETag, None if only some do."""
    tagged = {"etag": {"schema": STRING, "description": "The version.", "required": bool(etag)}}
    made: Json = {
        "description": description,
        "headers": {**headers.of_every(), **({} if etag is False else tagged)},
    }
    names = [schema(shape) for shape in shapes if isinstance(shape, str)]
    if names:
        made["content"] = content(names[0] if len(names) == 1 else either(*names))
    elif shapes:
        made["content"] = shapes[0]
    return made


def described_routes(settings: Settings, *routes: type) -> dict[str, Json]:
    """Return the path items of these classes of handlers by path."""
    paths: dict[str, Json] = defaultdict(dict)
    for kind in routes:
        for row, _ in operations(kind):
            paths[row.path][row.method.lower()] = _described(row, settings)
    return dict(paths)


def _described(row: Operation, settings: Settings) -> Json:
    made = {
        str(status): answer(says, *shapes, etag=row.etag)
        for status, (says, *shapes) in row.answers.items()
    }
    responses = {**made, **failures.of(settings, *row.errors)}
    given = [ref("parameters", one) if isinstance(one, str) else one for one in row.parameters]
    description = row.says.replace("{deleted_days}", str(settings.deleted_days))
    if row.deletes:
        responses = _counted(responses)
        given.append(query("dry_run", "Delete nothing, and answer how much would go.", OFF))
        given += [purge()] if "purge" in row.deletes else []
        description += " What the route does not know is refused (400), and nothing deleted."
    more: Json = {"parameters": given}
    if row.body:
        body = row.body
        more["requestBody"] = ref("requestBodies", body) if isinstance(body, str) else body
    return operation(row.id, row.tag, row.summary, description, responses, **more)
