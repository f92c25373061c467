"""Operations of schemas: what structured memories of a kind must look like."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.http import content_encoding
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.parts import answer, delete_operation, memory_operation, named
from memtree_proxy.openapi.memories.schema_shapes import KIND
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.operation import KNOWN, READING

TAG = "Schemas"
_ALL, _ONE = "/schemas", "/schemas/{kind}"


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    return {"kind": parts.path("kind", "The kind of memories that the schema is of.", KIND)}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        _ALL: {"get": _list(settings), "post": _create(settings)},
        _ONE: {
            "get": _show(settings),
            "put": _put(settings),
            "patch": _change(settings),
            "delete": _delete(settings),
        },
    }


def _list(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "listSchemas",
        "List schemas",
        "Schemas belong to the tenant, whichever of its agents and users asks.",
        {"200": answer("All of them, by kind.", "MemorySchemas"), **failures.of(settings, *KNOWN)},
        [],
    )


def _create(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "createSchema",
        "Create a schema",
        "For a kind that has none: where it has another one, the answer is a 409.",
        {
            "201": answer("It is there.", "KeptSchema"),
            "200": answer("The same was there already.", "KeptSchema"),
            **failures.of(settings, 409, 422, *READING),
        },
        named(content_encoding.HEADER),
        "NamedSchema",
    )


def _show(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "readSchema",
        "Show a schema",
        "With its text as it was posted.",
        {"200": answer("The schema.", "KeptSchema"), **failures.of(settings, 400, 404, *KNOWN)},
        named("kind"),
    )


def _put(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "putSchema",
        "Put a schema",
        "In the place of the one that the kind has, or as its first. Memories that are there stay; "
        "what they make unique is found anew.",
        {
            "201": answer("It is the first one of the kind.", "KeptSchema"),
            "200": answer("It took the place of another.", "KeptSchema"),
            **failures.of(settings, 409, 422, *READING),
        },
        named("kind", content_encoding.HEADER),
        "NewSchema",
    )


def _change(settings: Settings) -> Json:
    return memory_operation(
        TAG,
        "changeSchema",
        "Change a schema",
        "Fields that are left out stay as they are.",
        {
            "200": answer("As it is now.", "ChangedSchema"),
            **failures.of(settings, 404, 409, 422, *READING),
        },
        named("kind", content_encoding.HEADER),
        "SchemaChange",
    )


def _delete(settings: Settings) -> Json:
    return delete_operation(
        TAG,
        "deleteSchema",
        "Delete a schema",
        "Its memories stay as they are.",
        {"200": answer("It is gone.", "Success"), **failures.of(settings, 400, 404, *KNOWN)},
        named("kind"),
        purged=False,
    )
