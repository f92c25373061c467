"""Shapes of conversations that are posted to be read for memories, and of the results."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.openapi import bodies as chat_bodies
from memtree_proxy.openapi.memories.user_shapes import ROW
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    posted,
    schema,
)

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
    """Return `components.requestBodies` of extraction."""
    example = {"messages": [{"role": "user", "content": "I'm allergic to nuts."}], "dry_run": True}
    return {"ConversationToExtract": posted(["ConversationToExtract"], {"conversation": example})}
