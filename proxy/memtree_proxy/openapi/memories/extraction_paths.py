"""The operation that reads a conversation for memories: its path, what is posted and answered."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.openapi import bodies as chat_bodies
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import user_paths
from memtree_proxy.openapi.memories.parts import answer, memory_operation
from memtree_proxy.openapi.memories.user_shapes import ROW
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.operation import READING
from memtree_proxy.wire.parameter import named

_SKIPPED = object_of(
    {
        "text": described(STRING, "What it was about. It is told here and kept nowhere."),
        "reason": described(
            STRING,
            "As in `question`, `request`, `duplicate` (a memory says it already), `secret`, "
            "`not_grounded` (a model claims what was not said), `cap` (one message gives so many "
            "and no more), `limit` (the tenant may have no more memories).",
        ),
    }
)
_PLANNED = object_of({**ROW, "id": NULL, "number": NULL}, description="It is not stored.")
SCHEMAS: dict[str, Json] = {
    "Extracted": object_of(
        {
            "dry_run": BOOLEAN,
            "messages": described(
                COUNT, "Messages of the user that were read: those that were not read before."
            ),
            "stored": array(
                either(schema("UserMemory"), _PLANNED),
                description="New memories, or with `dry_run` what they would be.",
            ),
            "skipped": array(_SKIPPED, description="What no memory was made of."),
            "snapshots": array(
                schema("UserMemory"), description="Snapshots that are new, or changed."
            ),
        }
    )
}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        "/memories/extract": {
            "post": memory_operation(
                user_paths.TAG,
                "extractMemories",
                "Read a conversation for memories",
                "At once, and whatever the settings of the user say. Only what the user wrote is "
                "read, outside of code, quotations and pasted text. Each message is read once: "
                "what was read before, in this or another conversation, is not read again. With "
                "`dry_run` nothing is stored, and the messages count as not read.",
                {
                    "200": answer("What came of it.", "Extracted"),
                    **failures.of(settings, *READING),
                },
                named(USER_HEADER, content_encoding.HEADER),
                "ConversationToExtract",
            )
        }
    }


def bodies(settings: Settings) -> dict[str, Json]:
    """Schemas of what is posted."""
    return {
        "ConversationToExtract": object_of(
            {
                "messages": chat_bodies.messages(settings),
                "dry_run": described(either(BOOLEAN, NULL), "Store nothing."),
            },
            ("messages",),
        )
    }


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    example = {"messages": [{"role": "user", "content": "I'm allergic to nuts."}], "dry_run": True}
    shown = {"conversation": {"summary": "A dry run", "value": example}}
    posted = content(schema("ConversationToExtract"), examples=shown)
    return {"ConversationToExtract": {"required": True, "content": posted}}
