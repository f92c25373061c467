"""Describe the answers of `/context_memory`, of its status, and of the health routes."""

from __future__ import annotations

from typing import get_args

from memtree_proxy.checkups.finding import Level
from memtree_proxy.wire.answer import schema_of_answer
from memtree_proxy.wire.context_answers import DELETION, MEMORY, STATUS, USAGE
from memtree_proxy.wire.json_schema import (
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.tree_answers import EXPLAIN, NODE, TREE

_NUMBERS = {"usage": schema("Usage"), "memory": schema("Memory")}

SCHEMAS: dict[str, Json] = {
    "Usage": schema_of_answer(USAGE, description="Tokens as MemTree counts them."),
    "Memory": schema_of_answer(
        MEMORY, description="What memory knows, and what it made of this request."
    ),
    "Explain": schema_of_answer(
        EXPLAIN, description="What was chosen and why; only with `explain`."
    ),
    "Compressed": object_of(
        {
            "messages": described(
                array(schema("Message")),
                "The messages for the model: system messages, the memory message "
                "(`<context_memory>` ... `</context_memory>`) where there is one, recent messages.",
            ),
            "input": described(
                either(STRING, array({})), "In the place of `messages`, where `input` was posted."
            ),
            **_NUMBERS,
            "explain": schema("Explain"),
        },
        _NUMBERS,
        anyOf=[{"required": ["messages"]}, {"required": ["input"]}],
    ),
    "Indexed": object_of({**_NUMBERS, "explain": schema("Explain")}, _NUMBERS),
    "Status": schema_of_answer(STATUS),
    "Node": schema_of_answer(NODE),
    "Tree": schema_of_answer(TREE),
    "Receipt": schema_of_answer(
        DELETION,
        description="How much was forgotten. What another live conversation needs is not counted: "
        "it stays.",
    ),
    "Health": object_of({"status": {"const": "ok"}, "version": STRING}),
    "HealthDetails": object_of(
        {
            "version": STRING,
            "findings": array(
                object_of(
                    {
                        "part": described(STRING, "Such as `store` or `upstream`."),
                        "level": {"type": "string", "enum": list(get_args(Level))},
                        "text": described(STRING, "What was found, for people."),
                    }
                )
            ),
        }
    ),
}
