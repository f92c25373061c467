"""Ways into the OpenAPI document for tests: operations, references, validators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from memtree.config import Settings
from memtree.errors import MemTreeError
from memtree_proxy.wire.openapi import document

DOCUMENT = document(Settings())
METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, method, operation)."""
    for path, item in DOCUMENT["paths"].items():
        yield from ((path, method, item[method]) for method in METHODS if method in item)


def error_tree() -> Iterator[type[MemTreeError]]:
    """All defined error classes, the base class first."""
    waiting: list[type[MemTreeError]] = [MemTreeError]
    while waiting:
        error = waiting.pop(0)
        yield error
        waiting += error.__subclasses__()


def examples(body: str) -> list[Any]:
    """Values of the examples of a request body."""
    media = DOCUMENT["components"]["requestBodies"][body]["content"]["application/json"]
    return [shown["value"] for shown in media["examples"].values()]


def walk(value: Any) -> Iterator[Any]:
    """The value and everything in it."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from walk(one)


def found(reference: str) -> Any:
    at: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        at = at[name]
    return at


def resolved(value: dict[str, Any]) -> dict[str, Any]:
    target: dict[str, Any] = found(value["$ref"]) if "$ref" in value else value
    return target


def rooted(schema: dict[str, Any], document: dict[str, Any] = DOCUMENT) -> Any:
    """A validator of one schema of the document; formats count."""
    whole = {**schema, "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with no room for more in our own answers, so that a new field is noticed."""
    copy: dict[str, Any] = json.loads(json.dumps(document))
    for name in ("Usage", "Memory", "Explain", "Compressed", "Indexed", "Status", "Node", "Tree",
                 "Receipt", "Health", "Error", "ChatMemory", "SavedChatMemory", "ChatMemoryPage",
                 "ChatMemoryHits", "ChatMemories", "AgentMemoryHit", "AgentMemoryHits",
                 "MemoryAnswer", "MemoryMap", "BatchSearchResults"):  # fmt: skip
        for part in walk(copy["components"]["schemas"][name]):
            if isinstance(part, dict) and "properties" in part:
                part["additionalProperties"] = False
    return copy


@cache
def _validator(schema: str) -> Any:
    """Return the validator of an answer with nothing beyond its schema."""
    return rooted(json.loads(schema), closed(DOCUMENT))


def check_answer(path: str, method: str, answer: Any) -> None:
    """The answer is as documented, with no field beyond."""
    response = resolved(DOCUMENT["paths"][path][method]["responses"][str(answer.status_code)])
    schema = response["content"][answer.headers["content-type"].partition(";")[0]]["schema"]
    errors = _validator(json.dumps(schema)).iter_errors(answer.json())
    assert [error.message for error in errors] == []
    own = {name for name in answer.headers if name.startswith("x-memtree-")}
    assert own <= set(response.get("headers", ()))
