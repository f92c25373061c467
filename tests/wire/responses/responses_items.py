"""Rules for single fields and items of the Responses API.

Items and parts whose type is not known here are an error: the API refuses them as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtree.history.json_body import OWN_FIELDS
from tests.wire.rule_break import Fields, RuleBreak

KNOWN_FIELDS = frozenset(
    """model input instructions tools tool_choice parallel_tool_calls reasoning store stream
    stream_options include text truncation temperature top_p top_logprobs max_output_tokens
    max_tool_calls metadata user safety_identifier prompt_cache_key prompt_cache_retention
    prompt_cache_options previous_response_id conversation background service_tier prompt
    context_management client_metadata""".split()
)
# call -> its output
OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "tool_search_call": "tool_search_output",
    "program": "program_output",
}
OUTPUTS = {output: call for call, output in OUTPUT_OF.items()}
SERVER_CALLS = frozenset(
    """web_search_call file_search_call code_interpreter_call image_generation_call mcp_call
    mcp_list_tools mcp_approval_request""".split()
)
MODEL_ITEMS = frozenset({"reasoning", *OUTPUT_OF, *SERVER_CALLS})
OTHERS = frozenset(
    """message additional_tools configuration_update compaction compaction_trigger item_reference
    mcp_approval_response""".split()
)
KNOWN_ITEMS = MODEL_ITEMS | frozenset(OUTPUTS) | OTHERS
ITEM_FIELDS = {
    "message": {"type", "id", "role", "content", "status", "phase"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
    "function_call": {
        "type",
        "id",
        "call_id",
        "name",
        "namespace",
        "arguments",
        "status",
        "caller",
    },
    "function_call_output": {"type", "id", "call_id", "output", "status", "caller"},
    "custom_tool_call": {"type", "id", "call_id", "name", "namespace", "input", "status", "caller"},
    "custom_tool_call_output": {"type", "id", "call_id", "output", "status", "caller"},
}
# Codex puts this one on every item.
ANYWHERE = {"internal_chat_message_metadata_passthrough", "agent", "created_by"}
PARTS = {
    "user": {"input_text", "input_image", "input_file", "input_audio"},
    "developer": {"input_text", "input_image", "input_file"},
    "system": {"input_text", "input_image", "input_file"},
    "assistant": {"output_text", "refusal"},
}
PART_FIELDS = {
    "input_text": {"type", "text", "prompt_cache_breakpoint"},
    "output_text": {"type", "text", "annotations", "logprobs"},
    "refusal": {"type", "refusal"},
    "input_image": {"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"},
}
PREFIXES = {"reasoning": "rs_", "function_call": "fc_"}


def kind_of(item: Any) -> str:
    """A message may go without its type."""
    if not isinstance(item, dict):
        return ""
    return str(item.get("type") or ("message" if "role" in item else ""))


def is_of_model(item: Any) -> bool:
    """Return True if the model made it: reasoning, its messages and its calls."""
    kind = kind_of(item)
    return kind in MODEL_ITEMS or (kind == "message" and item.get("role") == "assistant")


def broken_fields(body: Fields) -> Iterator[RuleBreak]:
    for name in body:
        if name in OWN_FIELDS:
            yield RuleBreak("own-field", name)
        elif name not in KNOWN_FIELDS:
            yield RuleBreak("unknown-field", name)
    if "model" not in body:
        yield RuleBreak("missing-field", "model")
    if ":memory" in str(body.get("model")):
        yield RuleBreak("own-model-suffix", "model")
    if body.get("previous_response_id") and body.get("conversation"):
        yield RuleBreak("two-states", "conversation")
    yield from _broken_tools(body)


def _broken_tools(body: Fields) -> Iterator[RuleBreak]:
    names: set[Any] = set()
    for index, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") not in ("function", "custom"):
            continue
        where = f"tools[{index}]"
        name = tool.get("name")
        if not isinstance(name, str):
            yield RuleBreak("tool-without-name", where)
        elif name in names:
            yield RuleBreak("tool-defined-twice", where)
        names.add(name)
        if tool["type"] == "function" and "input_schema" in tool:
            yield RuleBreak("tool-of-another-api", where)
    choice = body.get("tool_choice")
    forced = choice if isinstance(choice, dict) else {}
    if forced.get("type") == "function" and forced.get("name") not in names:
        yield RuleBreak("tool-choice-unknown", "tool_choice")


def broken_item(item: Any, where: str) -> Iterator[RuleBreak]:
    """The shape of one item, without its place among the others."""
    kind = kind_of(item)
    if kind not in KNOWN_ITEMS:
        yield RuleBreak("unknown-item", where)
        return
    if kind in ITEM_FIELDS:
        for name in sorted(set(item) - ITEM_FIELDS[kind] - ANYWHERE):
            yield RuleBreak("unknown-item-field", f"{where}.{name}")
    wanted = PREFIXES.get(kind)
    own = item.get("id")
    if own is not None and (not isinstance(own, str) or (wanted and not own.startswith(wanted))):
        yield RuleBreak("item-id", where)
    if kind in OUTPUT_OF or kind in OUTPUTS:
        yield from _broken_call(item, kind, where)
    if kind == "message":
        yield from _broken_message(item, where)
    if kind == "reasoning" and not isinstance(item.get("summary"), list):
        yield RuleBreak("reasoning-without-summary", where)


def _broken_call(item: Fields, kind: str, where: str) -> Iterator[RuleBreak]:
    name, searches = item.get("call_id"), kind in ("tool_search_call", "tool_search_output")
    if not searches and not (isinstance(name, str) and name):  # the server's own have none
        yield RuleBreak("call-without-id", where)
    if kind == "function_call":
        if not isinstance(item.get("name"), str) or not item["name"]:
            yield RuleBreak("call-name", where)
        if not isinstance(item.get("arguments"), str):
            yield RuleBreak("arguments-not-a-string", where)
    if kind == "function_call_output" and not isinstance(item.get("output"), str | list):
        yield RuleBreak("output-missing", where)
    if kind == "function_call_output" and isinstance(item.get("output"), list):
        yield from _broken_parts(item["output"], "user", f"{where}.output")


def _broken_message(item: Fields, where: str) -> Iterator[RuleBreak]:
    role, content = item.get("role"), item.get("content")
    if role not in PARTS:
        yield RuleBreak("unknown-role", where)
    elif isinstance(content, list):
        yield from _broken_parts(content, role, f"{where}.content")
    elif not isinstance(content, str):
        yield RuleBreak("content-missing", where)


def _broken_parts(parts: list[Any], role: str, where: str) -> Iterator[RuleBreak]:
    for index, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        inside = f"{where}[{index}]"
        if kind not in PARTS[role]:
            yield RuleBreak("part-in-wrong-role", inside)
            continue
        for name in sorted(set(part) - PART_FIELDS.get(str(kind), set(part))):
            yield RuleBreak("unknown-part-field", f"{inside}.{name}")
        if str(kind).endswith("_text") and not isinstance(part.get("text"), str):
            yield RuleBreak("text-not-a-string", inside)
        mark = part.get("prompt_cache_breakpoint")
        if mark is not None and (not isinstance(mark, dict) or mark.get("mode") != "explicit"):
            yield RuleBreak("breakpoint-form", inside)
