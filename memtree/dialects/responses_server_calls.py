"""Read calls that the server ran itself: requests and results, as text of the answer.

They stand among the model's own items and get no answer, so they are part of the model's message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class ServerCall:
    """Call run by the server. `parts`: media that it made. `loads`: names of tools it loads."""

    text: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    loads: frozenset[str] = frozenset()


def said(kind: str, fields: dict[str, Any]) -> ServerCall | None:
    """Return the texts of a call that the server itself answered; None for any other item."""
    match kind:
        case "web_search_call":
            return _titled("web_search", _web(fields.get("action")))
        case "file_search_call":
            results = (_result(result) for result in _objects(fields.get("results")))
            return _titled("file_search", (*_strings(fields.get("queries")), *results))
        case "code_interpreter_call":
            return _code(fields)
        case "image_generation_call":
            return _image(fields)
        case "mcp_call":
            return _mcp(fields)
        case "mcp_list_tools":
            label = _strings([fields.get("server_label")])
            listed = tool_list(fields)
            return ServerCall(
                f"\n[mcp_list_tools] {''.join(label)}: {listed[0]['text']}\n",
                listed[1:],
                loaded(fields),
            )
    return None


def loaded(fields: dict[str, Any]) -> frozenset[str]:
    """Return the names of the tools that an item defines, prefixed by their namespace, if any."""
    return frozenset(_names(fields.get("tools")))


def tool_list(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return content that names the tools, with the definitions, which take tokens of the
    prompt."""
    names = ", ".join(_names(fields.get("tools")))
    named = {"type": "text", "text": f"Tools: {names}" if names else "No tools"}
    return [named, {"type": "tool_definitions", "tools": fields.get("tools")}]


def _names(tools: object, within: str = "") -> Iterator[str]:
    for tool in _objects(tools):
        name = tool.get("name") or tool.get("server_label") or tool.get("type")
        if not isinstance(name, str):
            continue
        inner = [] if within else [*_names(tool.get("tools"), f"{name}.")]
        yield from inner or [within + name]


def _titled(title: str, lines: Iterator[str] | tuple[str, ...]) -> ServerCall:
    return ServerCall("".join((f"\n[{title}] ", "\n".join(lines), "\n")))


def _web(action: object) -> tuple[str, ...]:
    if not isinstance(action, dict):
        return ()
    queries = [*_strings(action.get("queries"))] or [*_strings([action.get("query")])]
    places = [action.get("pattern"), action.get("url")]
    sources = [source.get("url") for source in _objects(action.get("sources"))]
    return (*queries, *_strings([*places, *sources]))


def _result(result: dict[str, Any]) -> str:
    return ": ".join(_strings([result.get("filename"), result.get("text")]))


def _code(fields: dict[str, Any]) -> ServerCall:
    outputs = [*_objects(fields.get("outputs"))]
    logs = [output.get("logs") for output in outputs]
    images = _strings([output.get("url") for output in outputs])
    parts = [{"type": "input_image", "image_url": url} for url in images]
    text = "\n".join(("\n[code_interpreter]", *_strings([fields.get("code"), *logs]), ""))
    return ServerCall(text, parts)


def _image(fields: dict[str, Any]) -> ServerCall:
    result, form = fields.get("result"), fields.get("output_format")
    prompt = " ".join(_strings([fields.get("revised_prompt")]))
    parts = []
    if isinstance(result, str) and result:
        kind = form if isinstance(form, str) else "png"
        parts.append({"type": "input_image", "image_url": f"data:image/{kind};base64,{result}"})
    return ServerCall(f"\n[image_generation] {prompt}\n", parts)


def _mcp(fields: dict[str, Any]) -> ServerCall:
    name = ".".join(_strings([fields.get("server_label"), fields.get("name")]))
    came = [_text(fields.get(key)) for key in ("arguments", "output", "error")]
    return ServerCall("\n".join((f"\n[mcp_call] {name}", *filter(None, came), "")))


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _strings(values: object) -> tuple[str, ...]:
    given = values if isinstance(values, list) else []
    return tuple(value for value in given if isinstance(value, str) and value)


def _objects(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))
