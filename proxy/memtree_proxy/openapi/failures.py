"""Describe errors: one response for each status, with its codes from the error classes.

New error classes (in `memtree.errors` or beside a route) appear in the document by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from memtree.config import Settings
from memtree.errors import ContextOverflow, MemTreeError
from memtree_proxy.openapi import headers
from memtree_proxy.wire.json_schema import (
    NULL,
    STRING,
    Json,
    content,
    described,
    either,
    object_of,
    ref,
    schema,
)

# If a status has several codes, each error's own message says what its code means.
_DESCRIPTIONS = {
    400: "The request is wrong. `param` names the field or header, as in `messages[3].content`.",
    401: "There is no credential, or none that is known.",
    403: "A web page asks whose origin is neither the server's own nor in `allowed_origins`; or "
    "the server's own upstream key is not lent for the request: `passthrough_routes` does not "
    "list it, or it names an object at the provider that its tenant did not make here.",
    404: "Nothing is known by this name.",
    405: "A route of ours, under another method.",
    408: "The request did not arrive in time.",
    409: "What is stored stands against it: another version (`version_conflict`), or as many "
    "memories as a tenant may have (`memory_limit`), or as many schemas; or another schema of this "
    "name.",
    413: "The body is over the size limit (`request_too_large`), or unpacks to more than 20 times "
    "what was sent and a megabyte (imports, files to parse, routes of memories and documents: "
    "`request_too_large`, too), or what must be sent whole does "
    'not fit the model (`context_length_exceeded`, with the words that clients look for: "This '
    "model's maximum context length is N tokens. However, your messages resulted in M tokens.\").",
    415: "The body's `content-type` is not JSON (forms and pages may send others without asking), "
    "or its `content-encoding` cannot be read here. `param` names the header.",
    421: "A server without access keys was asked under a name that it does not answer to.",
    422: "A conversation is posted for schemas, and there is no model to fill them "
    "(`model_needed`); the text holds a secret (`secret_rejected`), whose kind the message names "
    "and not its value; a schema is not valid, or exceeds a limit (`invalid_schema`); data does "
    "not keep to the schema of its kind (`schema_violation`).",
    426: "A WebSocket was asked for on `/responses`, which speaks HTTP.",
    429: "Too many requests of one tenant; of imports, extractions, files to parse and posts of "
    "documents too many at once (`max_imports`), or too much CPU for them in a minute "
    "(`import_seconds`); or too many wrong keys from one address (`failed_keys_per_minute`). Try "
    "again after `retry-after` seconds.",
    431: "The request line and headers are too long.",
    500: "A defect on our side. The message says nothing of the request.",
    502: "The upstream could not be reached, or broke off (`upstream_unreachable`), or refused a "
    "call that was made for the caller (`upstream_refused`).",
    503: "A part of the server is not available: the store, or an upstream where none is set.",
    504: "The upstream did not accept a connection in time, or a call that was made for the caller "
    "had no answer in time (`upstream_timeout`).",
}
_HEADERS = {
    401: ("www-authenticate", described(STRING, "How to send a credential.")),
    405: ("allow", described(STRING, "The methods that are allowed here.")),
    429: ("retry-after", described({"type": "integer", "minimum": 0}, "Seconds to wait.")),
}


def tree() -> Iterator[type[MemTreeError]]:
    """Yield all defined error classes, the base class first."""
    waiting: list[type[MemTreeError]] = [MemTreeError]
    while waiting:
        error = waiting.pop(0)
        yield error
        waiting += error.__subclasses__()


def codes(settings: Settings) -> dict[int, list[str]]:
    """Return the codes of each status, ordered by status."""
    return _codes(settings.overflow_status)


@cache  # called for each operation of the document
def _codes(overflow_status: int) -> dict[int, list[str]]:
    by_status: dict[int, set[str]] = {}
    for error in tree():
        status = overflow_status if issubclass(error, ContextOverflow) else error.status
        by_status.setdefault(status, set()).add(error.code)
    return {status: sorted(by_status[status]) for status in sorted(by_status)}


def responses(settings: Settings) -> dict[str, Json]:
    """Return `components.responses`: one response for each status."""
    return {name(status): _response(status, known) for status, known in codes(settings).items()}


def of(settings: Settings, *statuses: int) -> dict[str, Json]:
    """Return the error responses of an operation by status, without statuses that no error has."""
    known = codes(settings)
    listed = [status for status in sorted(statuses) if status in known]
    return {str(status): ref("responses", name(status)) for status in listed}


def name(status: int) -> str:
    return f"Error{status}"


def _response(status: int, known: list[str]) -> Json:
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": known}}}}}
    response: Json = {
        "description": _DESCRIPTIONS[status],
        "headers": headers.of_every(),
        "content": content({"allOf": [schema("Error"), narrowed]}),
    }
    if status in _HEADERS:
        header, shape = _HEADERS[status]
        response["headers"] |= {header: {"schema": shape, "required": True}}
    return response


def schemas() -> dict[str, Json]:
    kinds = sorted({error.kind for error in tree()})
    properties = {
        "message": described(STRING, "For people. Never holds text of a message."),
        "type": {"type": "string", "enum": kinds},
        "param": described(either(STRING, NULL), "The field or header that is wrong."),
        "code": described(STRING, "For programs."),
        "request_id": described(STRING, "As the header `x-memtree-request`."),
    }
    return {
        "Error": object_of(
            {"error": object_of(properties)},
            description="An error, in the shape of the OpenAI API.",
        )
    }
