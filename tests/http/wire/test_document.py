"""The document is held against the code, in both directions: each route and its query, each Struct
with its fields, their types and limits, and what is required.

Where the document says more than a Struct does, a rule of the core is behind it: those places are
listed. What it says of other APIs, of files and of pages has no Struct."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from memtree_proxy.api import conversation_routes, request_log_routes, usage_route
from memtree_proxy.http.decoding import Posted, names
from memtree_proxy.mcp import tool_answers, tool_arguments
from memtree_proxy.server import health_report, page_session
from memtree_proxy.wire import (
    agent_memory_bodies,
    agent_search_bodies,
    chat_memory_bodies,
    context_bodies,
    conversation_bodies,
    curation_bodies,
    document_bodies,
    memory_rows,
    request_options,
    schema_and_grant_bodies,
    user_memory_bodies,
    values,
)
from memtree_proxy.wire.routes import Mark
from memtree_proxy.wire.values import Answer
from tests.http.wire.documented import DOCUMENT, METHODS, operations, resolved

SCHEMAS = DOCUMENT["components"]["schemas"]
MODULES = (
    agent_memory_bodies, agent_search_bodies, chat_memory_bodies, context_bodies,
    conversation_bodies, conversation_routes, curation_bodies, document_bodies, health_report,
    memory_rows, page_session, request_log_routes, schema_and_grant_bodies, usage_route,
    user_memory_bodies, values,
)  # fmt: skip
# Structs under another name in the document.
NAMED: dict[str, type[msgspec.Struct]] = {
    "BatchDeleted": values.Deleted,
    "ChatMemories": curation_bodies.Memories,
    "Conversation": conversation_bodies.ShownConversation,
    "Document": document_bodies.ShownDocument,
    "DocumentPage": document_bodies.ShownPage,
    "DryRun": values.Counted,
    "GrantReport": schema_and_grant_bodies.ShownGrant,
    "HealthDetails": health_report.ShownHealth,
    "ImportReport": memory_rows.ShownReport,
    "MemoryGroup": user_memory_bodies.ShownGroup,
    "MemorySchema": schema_and_grant_bodies.ShownSchema,
    "Namespace": document_bodies.ShownNamespace,
    "PinnedPassage": conversation_bodies.ShownPin,
    "Receipt": context_bodies.ShownReceipt,
    "RequestRow": conversation_bodies.ShownRequest,
    "SchemaChange": schema_and_grant_bodies.SchemaEdit,
    "StoredPlan": conversation_bodies.Plan,
    "StoredTree": context_bodies.ShownStoredTree,
}
# What the document describes without a Struct of ours: messages of other APIs, errors, answers that
# are joined of others, what is relayed.
APART = {
    "AnyMessage", "AssistantMessage", "AudioPart", "BulkReceipt", "ChatMemoryHistory",
    "ChatTombstones",
    "Compressed", "Error", "FilePart", "Function", "FunctionMessage",
    "ImagePart", "Indexed", "Message", "MessagesFailure", "OtherPart", "ParsedFile", "Part",
    "RefusalPart", "RequestEvents", "SystemMessage", "TextPart", "ToolCall", "ToolMessage",
    "UserMessage",
}  # fmt: skip
CHATS = ("ChatRequest", "MessagesRequest", "ResponsesRequest")
CONTEXTS = ("ContextRequest", "ContextOfMessages", "ContextOfResponses")
LIMITS = ("minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems")
Field = tuple[str, Any]


def structs() -> dict[str, type[msgspec.Struct]]:
    """The Structs of the wire by name."""
    found: dict[str, type[msgspec.Struct]] = {}
    for module in MODULES:
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, Posted | Answer):
                found[name] = kind
    return found


STRUCTS = structs()
PAIRS = {
    name: NAMED.get(name) or STRUCTS[name]
    for name in SCHEMAS
    if name not in APART and (name in NAMED or name in STRUCTS)
}


def schema_of(kind: Any) -> dict[str, Any]:
    _, parts = msgspec.json.schema_components([kind], ref_template="{name}")
    made: dict[str, Any] = unfolded(parts[kind.__name__], parts)
    return made


def unfolded(value: Any, parts: dict[str, Any]) -> Any:
    """A schema without references."""
    if isinstance(value, list):
        return [unfolded(one, parts) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return unfolded(parts[value["$ref"].rpartition("/")[2]], parts)
    return {name: unfolded(one, parts) for name, one in value.items()}


def choices(schema: dict[str, Any]) -> list[dict[str, Any]]:
    if "properties" in schema:  # beside them, `anyOf` says which of them are needed
        return [schema]
    return [inner for one in schema.get("anyOf", ()) for inner in choices(one)] or [schema]


def types(schema: dict[str, Any]) -> set[str]:
    """The JSON types that a schema allows; none: any."""
    found: set[str] = set()
    for one in choices(schema):
        given = one.get("type", ())
        found |= {given} if isinstance(given, str) else set(given)
        for value in one.get("enum", [one["const"]] if "const" in one else ()):
            known = {bool: "boolean", str: "string", type(None): "null", int: "integer"}
            found.add(known[type(value)])
    return found


def enum(schema: dict[str, Any]) -> set[Any]:
    listed = [one.get("enum") or ([one["const"]] if "const" in one else []) for one in
              choices(schema)]  # fmt: skip
    return {value for one in listed for value in one if value is not None}


def limits(schema: dict[str, Any]) -> dict[str, Any]:
    found = {name: one[name] for one in choices(schema) for name in LIMITS if name in one}
    if "pattern" in found:
        found["pattern"] = found["pattern"].replace("\\Z", "$")
    return found


def differences(said: Any, kind: Any, place: str) -> Iterator[str]:
    """Yield where the document differs from a Struct."""
    if not kind or not said:  # any value
        return
    if types(said) != types(kind) and types(kind):
        yield f"{place}: {sorted(types(said))} is {sorted(types(kind))}"
    if enum(kind) and enum(said) != enum(kind):
        yield f"{place}: {enum(said)} is {enum(kind)}"
    documented = limits(said)
    for name, limit in limits(kind).items():
        if documented.get(name) != limit:
            yield f"{place}: {name} {documented.get(name)} is {limit}"
    mine = next((one for one in choices(kind) if "properties" in one), None)
    theirs = next((one for one in choices(said) if "properties" in one), None)
    if mine and theirs:
        yield from of_object(theirs, mine, place)
    items = [next((one["items"] for one in choices(each) if "items" in one), None)
             for each in (said, kind)]  # fmt: skip
    if all(isinstance(one, dict) for one in items):
        yield from differences(items[0], items[1], f"{place}[]")


def of_object(said: dict[str, Any], kind: dict[str, Any], place: str) -> Iterator[str]:
    for name in said["properties"].keys() ^ kind["properties"].keys():
        yield f"{place}.{name} stands on one side"
    if set(said.get("required", ())) != set(kind.get("required", ())):
        yield f"{place}: required {said.get('required')} is {kind.get('required')}"
    if kind.get("additionalProperties") is False and said.get("additionalProperties") is not False:
        yield f"{place} is closed"
    for name in said["properties"].keys() & kind["properties"].keys():
        yield from differences(
            said["properties"][name], kind["properties"][name], f"{place}.{name}"
        )


@pytest.mark.parametrize("name", PAIRS)
def test_a_struct_is_as_documented(name: str):
    said = unfolded(SCHEMAS[name], SCHEMAS)
    assert list(differences(said, schema_of(PAIRS[name]), name)) == []


@pytest.mark.parametrize("name", [*CHATS, *CONTEXTS])
def test_our_fields_of_a_body_are_as_documented(name: str):
    said = unfolded(SCHEMAS[name], SCHEMAS)["properties"]
    kind = schema_of(
        request_options.ContextOptions if name in CONTEXTS else request_options.ChatOptions
    )
    own = set(names(request_options.ChatOptions))
    assert own - said.keys() <= {"memory", "use_rag", "rag_options", "memory_options"}
    for field in kind["properties"].keys() & said.keys():
        if field in own or name in CONTEXTS:
            assert list(differences(said[field], kind["properties"][field], field)) == []


def test_every_schema_has_a_struct_or_stands_apart():
    assert set(SCHEMAS) - PAIRS.keys() - APART == {*CHATS, *CONTEXTS, "Deletion"}
    assert set(SCHEMAS) >= APART


def test_every_struct_is_documented_or_a_part_of_one():
    known = set(PAIRS.values())
    reached: set[type] = {request_options.ChatOptions, request_options.ContextOptions}
    waiting = [*known, *queries().values(), *APART_STRUCTS, *sum(EITHER.values(), ())]
    while waiting:
        kind = waiting.pop()
        if kind not in reached:
            reached.add(kind)
            waiting += list(inner(inspect.type_info(kind)))
    own = {kind for kind in STRUCTS.values() if kind.__module__.startswith("memtree_proxy")}
    leaves = {kind for kind in own if not kind.__subclasses__() and kind.__name__[0] != "_"}
    assert {kind.__name__ for kind in leaves - reached} == set()


# Documented by hand, since their fields hold what was posted, or one Struct answers two routes.
APART_STRUCTS: tuple[type[msgspec.Struct], ...] = (
    context_bodies.Compressed, curation_bodies.BulkReceipt, curation_bodies.ChatVersion,
    curation_bodies.ChatTombstone, request_options.MemoryOptions, request_options.RagOptions,
    page_session.PageKey, page_session.PostedCode, page_session.Proof,
    page_session.ShownSession,
)  # fmt: skip


def inner(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The Structs inside a type."""
    if isinstance(kind, inspect.StructType):
        yield kind.cls
        for field in kind.fields:
            yield from inner(field.type)
    for name in ("item_type", "value_type", "type"):
        if isinstance(getattr(kind, name, None), inspect.Type):
            yield from inner(getattr(kind, name))
    for one in getattr(kind, "types", ()):
        yield from inner(one)


# -- routes ----------------------------------------------------------------------------------


def queries() -> dict[tuple[str, str], type[Posted]]:
    """The Structs of queries by method and path."""
    found: dict[tuple[str, str], type[Posted]] = {
        ("post", "/memories"): values.NoQuery,
        ("get", "/ui/session"): page_session.SessionQuery,
        ("get", "/memories/{memory_id}"): values.AgentQuery,
        ("patch", "/memories/{memory_id}"): values.AgentQuery,
        ("delete", "/memories/{memory_id}"): values.DeletingOne,
    }
    for name, module in list(sys.modules.items()):
        if name.startswith("memtree_proxy."):
            for kind in [one for one in vars(module).values() if isinstance(one, type)]:
                for mark in marks(kind):
                    found[mark.method.lower(), mark.path] = mark.query
    return found


def marks(kind: type) -> Iterator[Mark]:
    for handler in vars(kind).values():
        if callable(handler):
            yield from getattr(handler, "routes", ())


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    rest = [one for one in choices(schema) if one.get("type") != "null"]
    listed = [{**one, "enum": [value for value in one["enum"] if value is not None]}
              if "enum" in one else one for one in rest]  # fmt: skip
    return {"anyOf": listed}


EITHER = {
    "/memories": (user_memory_bodies.UserListing, agent_memory_bodies.AgentListing),
    "/memories/search": (user_memory_bodies.UserSearch, agent_search_bodies.SearchQuery),
}


def parameters(path: str, method: str) -> dict[str, Any]:
    given = map(resolved, DOCUMENT["paths"][path][method].get("parameters", ()))
    return {one["name"]: one for one in given if one["in"] == "query"}


@pytest.mark.parametrize(("method", "path"), queries())
def test_a_query_is_as_documented(method: str, path: str):
    if path in EITHER and method == "get":
        return
    kind, said = schema_of(queries()[method, path]), parameters(path, method)
    assert said.keys() == kind["properties"].keys()
    for name, field in kind["properties"].items():
        assert list(differences(said[name]["schema"], without_null(field), name)) == []
        assert said[name]["required"] is (name in kind.get("required", ()))


@pytest.mark.parametrize("path", EITHER)
def test_a_query_of_users_or_agents_is_as_documented(path: str):
    kinds = [schema_of(kind)["properties"] for kind in EITHER[path]]
    said = parameters(path, "get")
    assert said.keys() == {name for kind in kinds for name in kind}


def test_every_query_that_is_documented_is_of_a_struct():
    known = queries()
    for path, method, operation in operations():
        asked = [one for one in map(resolved, operation.get("parameters", ()))
                 if one["in"] == "query"]  # fmt: skip
        read_apart = path in ("/context_memory/delete", *EITHER)
        assert not asked or (method, path) in known or read_apart, (method, path)
        assert method in METHODS


def test_every_marked_route_is_documented():
    for method, path in queries():
        assert method in DOCUMENT["paths"][path]


# -- tools -----------------------------------------------------------------------------------


def test_each_tool_has_a_struct_for_its_arguments_and_one_for_its_answers():
    assert all(issubclass(kind, Posted) for kind in tool_arguments.Arguments.__subclasses__())
    assert issubclass(tool_answers.Saved, tool_answers.Named)
