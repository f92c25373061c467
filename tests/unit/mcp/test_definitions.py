"""Check what a client lists: the tools of the remember tool's document and the six beside it."""

from __future__ import annotations

import jsonschema_rs
import pytest

from memtree.memories.memory import MAX_TAGS, MAX_TEXT_CHARS
from memtree_proxy.mcp.arguments import Remember, read
from memtree_proxy.mcp.definitions import BY_NAME, REMEMBER, TOOLS, ToolDefinition

INPUTS = {
    "remember": {"text", "tags", "source_provider", "importance", "capture_mode", "session_id",
                 "dedup_policy", "expires_at", "last_confirmed_at", "standing"},
    "recall": {"query", "tags", "limit", "session_id"},
    "forget": {"id", "reason", "dry_run"},
    "correct": {"id", "text", "reason"},
    "confirm": {"id"},
    "list_memories": {"cursor", "limit", "tags", "standing", "conflicts"},
    "settle": {"id", "with", "action"},
}  # fmt: skip
REQUIRED = {
    "remember": ["text"],
    "recall": ["query"],
    "forget": ["id"],
    "correct": ["id", "text"],
    "confirm": ["id"],
    "list_memories": [],
    "settle": ["id", "with", "action"],
}


def test_names_and_inputs():
    assert {tool.name: set(tool.input_schema["properties"]) for tool in TOOLS} == INPUTS
    assert {tool.name: tool.input_schema["required"] for tool in TOOLS} == REQUIRED
    assert list(BY_NAME.values()) == list(TOOLS)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_json_schemas_that_simple_clients_read(tool: ToolDefinition):
    for schema in (tool.input_schema, tool.output_schema):
        assert jsonschema_rs.meta.is_valid(schema)
        assert schema["type"] == "object"
        assert "$ref" not in str(schema)
        assert "$defs" not in schema
    for name, field in tool.input_schema["properties"].items():
        assert field["description"], name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_may_refuse_within_its_own_schema(tool: ToolDefinition):
    refusal = {"ok": False, "error": "INVALID_INPUT", "message": "text is required"}
    assert jsonschema_rs.is_valid(tool.output_schema, refusal)
    assert not jsonschema_rs.is_valid(tool.output_schema, {"message": "Ok"})


def test_hints_say_what_is_safe_to_run_without_asking():
    assert {tool.name for tool in TOOLS if tool.read_only} == {"recall", "list_memories"}
    assert {tool.name for tool in TOOLS if tool.destructive} == {"forget", "correct", "settle"}


def test_limits_in_the_schema_are_those_of_the_reader():
    fields = REMEMBER.input_schema["properties"]
    assert fields["text"]["maxLength"] == MAX_TEXT_CHARS == 16_000
    assert fields["tags"]["maxItems"] == MAX_TAGS
    assert fields["dedup_policy"]["enum"] == ["ask", "insert", "skip_if_near"]
    assert fields["dedup_policy"]["default"] == "ask"
    assert fields["capture_mode"]["enum"] == ["explicit", "inferred"]
    assert fields["importance"] | {"description": ""} == {
        "type": "number", "minimum": 0, "maximum": 1, "default": 0.5, "description": "",
    }  # fmt: skip
    assert read(Remember, {"text": "t"}).draft.importance == fields["importance"]["default"]


def test_a_model_reads_the_tools_in_few_tokens():
    words = sum(len(f"{tool.description} {tool.input_schema}") for tool in TOOLS)
    assert words < 9_000
