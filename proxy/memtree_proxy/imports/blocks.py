"""Convert messages of Anthropic content blocks, as Cline, Roo Code and Kilo Code store them, to the
OpenAI messages that these programs send to an OpenAI-compatible provider.

Mirrors `convertToOpenAiMessages` (src/core/api/transform/openai-format.ts in Cline,
src/api/transform/openai-format.ts in Roo Code and Kilo Code); where these differ is in `Flavour`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memtree_proxy.imports import js
from memtree_proxy.imports.conversation import Fields, fields, image, listed, text, tool_call

SEE_BELOW = "(see following user message for image)"


@dataclass(frozen=True, slots=True)
class Flavour:
    """Differences between the programs. `images_follow`: images of tool results follow as a user
    message (Cline), else they are lost. `empty_result`: text of a tool result that has none.
    `keeps_empty`: empty text blocks of the user are sent. `blank_is_null`: assistant text of white
    space alone is sent as null."""

    images_follow: bool = False
    empty_result: str = "(empty)"
    keeps_empty: bool = True
    blank_is_null: bool = False


CLINE = Flavour(images_follow=True, empty_result="", blank_is_null=True)
ROO = Flavour()
KILO = Flavour(keeps_empty=False)


def converted(messages: Iterable[Fields], flavour: Flavour) -> list[Fields]:
    """Convert stored messages to OpenAI messages; roles other than user and assistant are left
    out."""
    output: list[Fields] = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            continue
        if not isinstance(content, list):
            output.append({"role": role, "content": text(content)})
        elif role == "user":
            output += _user(listed(content), flavour)
        else:
            output.append(_assistant(listed(content), flavour))
    return output


def _user(blocks: list[Fields], flavour: Flavour) -> list[Fields]:
    """Convert a user message: tool results first, since they must follow their calls; then the
    images of these results, then everything else."""
    results = [block for block in blocks if block.get("type") == "tool_result"]
    output: list[Fields] = [
        {
            "role": "tool",
            "tool_call_id": text(block.get("tool_use_id")),
            "content": _result(block.get("content")) or flavour.empty_result,
        }
        for block in results
    ]
    shown = [part for block in results for part in listed(block.get("content")) if _is_image(part)]
    if shown and flavour.images_follow:
        output.append({"role": "user", "content": [image_part(part) for part in shown]})
    parts = [
        image_part(block) if _is_image(block) else {"type": "text", "text": text(block.get("text"))}
        for block in blocks
        if _is_image(block)
        or (block.get("type") == "text" and (flavour.keeps_empty or block.get("text")))
    ]
    if parts:
        output.append({"role": "user", "content": parts})
    return output


def _assistant(blocks: list[Fields], flavour: Flavour) -> Fields:
    content: str | None = "\n".join(
        text(block.get("text")) for block in blocks if block.get("type") in ("text", "image")
    )
    calls = [
        tool_call(block.get("id"), block.get("name"), js.stringify(block.get("input", {})))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    if flavour.blank_is_null and not js.trim(content or ""):
        content = None if calls else ""
    message: Fields = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    return message


def _result(content: object) -> str:
    if not isinstance(content, list):
        return text(content)
    return "\n".join(
        SEE_BELOW if _is_image(part) else text(part.get("text")) for part in listed(content)
    )


def _is_image(block: Fields) -> bool:
    return block.get("type") == "image"


def image_part(block: Fields) -> Fields:
    source = fields(block.get("source"))
    if source.get("type") == "url":
        return {"type": "image_url", "image_url": {"url": text(source.get("url"))}}
    return image(source.get("media_type"), source.get("data"))
