"""What the memory routes of several dialects share in the document."""

from __future__ import annotations

from collections.abc import Mapping

from memtree_proxy.access.event_streams import LAST_EVENT_HEADER
from memtree_proxy.memories.fields import IF_MATCH_HEADER
from memtree_proxy.openapi import headers
from memtree_proxy.openapi.operations import operation
from memtree_proxy.wire.json_schema import (
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    ref,
    schema,
)
from memtree_proxy.wire.parameter import OFF, header, purge, query
from memtree_proxy.wire.types import MEMORY_ID, RELEVANCE, STANDING


def told_row(text: str) -> dict[str, Json]:
    """Fields of a row that name other rows. `text`: the field of a row that holds its text."""
    update = object_of(
        {
            "id": MEMORY_ID,
            text: STRING,
            "differs": described(
                array(STRING),
                "One changed value or negation, as in `8090 -> 8091`; `wording` where none can be "
                "named.",
            ),
        }
    )
    return {
        "standing": STANDING,
        "possible_update_of": described(
            array(update), "Memories that this one may replace, until that is settled."
        ),
        "twins": described(array(MEMORY_ID), "Others that say the same, and count as this one."),
    }


def saved_row(row: Mapping[str, Json], text: str) -> Json:
    """What saving answers: a row and what came of the look for duplicates. `text`: the field of a
    row that holds its text."""
    update = object_of(
        {
            "id": MEMORY_ID,
            text: STRING,
            "relevance": RELEVANCE,
            "differs": described(
                array(STRING), "What differs, as in `8090 -> 8091`; or `wording`."
            ),
        }
    )
    more = {
        "possible_update_of": described(
            array(update), "Memories that this one may replace; they stay as they are."
        ),
        "dedup": described(
            {"const": "deferred"},
            "There only where the look for duplicates had to wait for the embedder.",
        ),
        "degraded": described(
            array({"const": "embedder"}), "There only where the embedder failed or was slow."
        ),
    }
    return object_of({**row, **more}, tuple(dict.fromkeys((*row, "possible_update_of"))))


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
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
    return {one["name"]: one for one in given}


def memory_operation(
    tag: str,
    id_: str,
    summary: str,
    description: str,
    responses: Json,
    given: list[Json],
    body: str | None = None,
) -> Json:
    """`given`: its parameters. `body`: the name of what is posted."""
    more = {"requestBody": ref("requestBodies", body)} if body else {}
    return operation(id_, tag, summary, description, responses, parameters=given, **more)


def delete_operation(
    tag: str,
    id_: str,
    summary: str,
    description: str,
    responses: Json,
    given: list[Json],
    *,
    purged: bool = True,
) -> Json:
    """`responses`: those of a deletion; a dry run is answered with 200 as well. `purged`: whether
    it may erase at once."""
    counted = {**answer("How much would go.", "DryRun"), **responses.get("200", {})}
    if "200" in responses:
        gone = responses["200"]["content"]["application/json"]["schema"]
        counted["content"] = content(either(gone, schema("DryRun")))
    dry_run = query("dry_run", "Delete nothing, and answer how much would go.", OFF)
    switches = [dry_run, purge()] if purged else [dry_run]
    told = f"{description} What the route does not know is refused (400), and nothing deleted."
    answers = {**responses, "200": counted}
    return memory_operation(tag, id_, summary, told, answers, [*given, *switches])


def answer(
    description: str,
    *names: str,
    etag: bool | None = False,
    media: str = "application/json",
) -> Json:
    """`names`: of the shapes that it may have. `etag`: None where not all of them have one."""
    tagged = {"etag": {"schema": STRING, "description": "The version.", "required": bool(etag)}}
    return {
        "description": description,
        "headers": {**headers.of_every(), **({} if etag is False else tagged)},
        "content": content(
            schema(names[0]) if len(names) == 1 else either(*map(schema, names)), media
        ),
    }


def event_stream(counted: str) -> Json:
    """`counted`: what the count of an event is of."""
    shape = described(
        STRING,
        'Events with `id: <count>` and `data: {"type": "created" | "updated" | "deleted", "id": '
        f'"mem_...", "count": <{counted}>, "version": <of this one>}}`, and comments as '
        "signs of life.",
    )
    return {
        "description": "The events, as long as anybody listens.",
        "headers": headers.of_every(),
        "content": content(shape, "text/event-stream"),
    }
