"""Describe posted chat messages, exactly as `memtree.message.check_message` accepts them.

A property without a type is either not read by MemTree, or read only if it has the usual type.
"""

from __future__ import annotations

from memtree_proxy.wire.json_schema import (
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)

TEXT_PARTS = ("text", "input_text", "output_text")

_CONTENT = described(
    either(STRING, array(schema("Part")), NULL),
    "Text, parts, or nothing. Null, an empty string and an absent field are the same.",
)
_NAME: Json = {"description": "The name of who speaks.", "examples": ["alice"]}
_CACHE: Json = {
    "description": "A provider's cache marker; stays where it stands.",
    "examples": [{"type": "ephemeral"}],
}
_ARGUMENTS = described(
    either(STRING, {"type": "object"}, NULL), "JSON as text; only text is quoted."
)
_NOTHING: Json = {"enum": [None, {}, [], "", 0, False]}
_CALLS: dict[str, Json] = {
    "tool_calls": described(either(array(schema("ToolCall")), NULL), "Calls, in order."),
    "function_call": described(either(schema("Function"), NULL), "The legacy form of one call."),
}


def _role(*names: str) -> Json:
    return {"type": "string", "enum": list(names)}


def _message(description: str, role: Json, required: tuple[str, ...] = (), **more: Json) -> Json:
    properties = {"role": role, "content": _CONTENT, **more}
    return object_of(properties, ("role", *required), description=description)


def _part(description: str, kind: str, **more: Json) -> Json:
    return object_of({"type": {"const": kind}, **more}, ("type",), description=description)


_ROLES: dict[str, Json] = {
    "SystemMessage": _message(
        "Instructions. Sent as they are, wherever they stand in front of the recent messages; not "
        "part of the history's address, and not counted in `target_tokens`.",
        _role("system", "developer"),
        name=_NAME,
    ),
    "UserMessage": _message("What the person says.", _role("user"), name=_NAME),
    "AssistantMessage": _message(
        "What the model answered. Fields that are not listed (`reasoning_content`, "
        "`reasoning_details`, `refusal` ...) stay on messages that are sent whole.",
        _role("assistant"),
        (),
        name=_NAME,
        **_CALLS,
    ),
    "ToolMessage": _message(
        "The result of a call. It must follow the assistant message that made the call, with "
        "nothing but other results between.",
        _role("tool"),
        tool_call_id=described(
            either(STRING, NULL), "The `id` of the call. Without one the next call is answered."
        ),
    ),
    "FunctionMessage": _message(
        "The legacy form of a tool message; it follows a `function_call` of that name.",
        _role("function"),
        ("name",),
        name=described(STRING, "The `name` of the call."),
    ),
}

_PARTS: dict[str, Json] = {
    "TextPart": object_of(
        {"type": {"type": "string", "enum": list(TEXT_PARTS)}, "text": STRING,
         "cache_control": _CACHE},
        ("type", "text"),
        description="Text. Indexed and quoted.",
    ),
    "ImagePart": _part(
        "An image; a placeholder in memory, kept whole in recent messages.",
        "image_url",
        image_url={
            "description": "The image, as a `data:` address or on the web.",
            "examples": [{"url": "https://example.org/plan.png", "detail": "low"}],
        },
    ),
    "AudioPart": _part(
        "Sound, as an image is treated.",
        "input_audio",
        input_audio={"examples": [{"data": "UklGRg==", "format": "wav"}]},
    ),
    "FilePart": _part(
        "A file, as an image is treated.",
        "file",
        file={"examples": [{"filename": "report.pdf", "file_id": "file-1"}]},
    ),
    "RefusalPart": _part(
        "A refusal. Sent on, not indexed.", "refusal", refusal={"examples": ["I cannot do that."]}
    ),
    "OtherPart": object_of(
        {"type": {"type": "string", "not": {"enum": list(TEXT_PARTS)}}},
        description="Any other part; treated as an image is.",
    ),
}  # fmt: skip

SCHEMAS: dict[str, Json] = {
    "Message": {
        "description": "A message of the OpenAI chat API. Fields that are not listed are kept.",
        "properties": _CALLS,  # tool calls are read in messages of any role
        "oneOf": [schema(name) for name in _ROLES],
        "discriminator": {
            "propertyName": "role",
            "mapping": {
                role: schema(name)["$ref"]
                for name, shape in _ROLES.items()
                for role in shape["properties"]["role"]["enum"]
            },
        },
    },
    **_ROLES,
    "Part": {
        "description": "A piece of a message's content.",
        "anyOf": [schema(name) for name in _PARTS],
    },
    **_PARTS,
    "ToolCall": {
        "type": "object",
        "description": "A call of a function, or of a custom tool.",
        "properties": {
            "id": either(STRING, NULL),
            "type": {"description": "Not read.", "examples": ["function", "custom"]},
        },
        "anyOf": [
            {"required": ["function"], "properties": {"function": schema("Function")}},
            {
                "required": ["custom"],
                "properties": {"custom": schema("Function"), "function": _NOTHING},
            },
        ],
    },
    "Function": {
        **object_of({"name": STRING, "arguments": _ARGUMENTS}, ("name",)),
        "description": "The name of what is called, and its arguments; `input` where there are "
        "none, as custom tools have it.",
        "if": {"not": {"required": ["arguments"]}},
        "then": {"properties": {"input": _ARGUMENTS}},
    },
}
