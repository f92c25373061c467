"""Conversations exported by ChatGPT: `conversations.json`, alone or in the zip that it comes in.

A conversation is a tree of nodes (`mapping`); the branch shown last is the path from the root to
`current_node`. Content hidden from the user (system messages, instructions, thoughts) is left out.
Code that the model ran and tools that it called become tool calls. Pictures and files are not in
the JSON, so a line that names them takes their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memtree.transfer.foreign_formats import without_marks
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    branch,
    entries,
    fields,
    listed,
    moment,
    newest,
    paired,
    text,
    titled,
    tool_call,
)

_UNSEEN = frozenset(
    {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context",
     "app_pairing_content"}
)  # fmt: skip
_ASSETS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio and video",
}


def read(name: str, data: Any) -> Iterator[Conversation]:
    """Yield the conversations of a file."""
    stored, notes = entries(data, f"{name}: conversations")
    for number, conversation in enumerate(stored):
        nodes = conversation.get("mapping")
        if isinstance(nodes, dict):
            talk = _conversation(conversation, nodes, str(number + 1))
            yield replace(talk, notes=notes + talk.notes)


def _conversation(stored: Fields, nodes: Fields, number: str) -> Conversation:
    """Read the branch shown last: it leads to the current node, or else to the newest one."""
    parents = {key: text(fields(node).get("parent")) for key, node in nodes.items()}
    current, order = text(stored.get("current_node")), list(nodes)
    path, notes = branch(current if current in nodes else newest(order, parents), parents, order)
    posted = [{**fields(fields(nodes.get(key)).get("message")), "id": key} for key in path]
    made = paired(_answering([message for each in posted for message in _messages(each)]))
    id_ = text(stored.get("conversation_id")) or text(stored.get("id")) or number
    when = moment(stored.get("update_time") or stored.get("create_time"))
    title = titled(stored.get("title"), made)
    return Conversation("chatgpt", id_, title, when, tuple(made), notes=notes)


def _messages(stored: Fields) -> list[Fields]:
    role = fields(stored.get("author")).get("role")
    content, notes = fields(stored.get("content")), fields(stored.get("metadata"))
    hidden = notes.get("is_visually_hidden_from_conversation") is True or stored.get("weight") == 0
    if hidden or text(content.get("content_type")) in _UNSEEN:
        return []
    if role == "tool":
        return [{"role": "tool", "content": _text(content, notes)}]
    if role not in ("user", "assistant"):
        return []
    shown, recipient = _text(content, notes), text(stored.get("recipient")) or "all"
    if role == "assistant" and recipient != "all":
        calls = [tool_call(stored["id"], recipient, _arguments(shown))]
        return [{"role": "assistant", "content": None, "tool_calls": calls}]
    return [{"role": role, "content": shown}] if shown.strip() else []


def _arguments(shown: str) -> str:
    """Return a tool's arguments: a JSON object unchanged, other code or text as the field
    `input`."""
    try:
        if isinstance(json.loads(shown), dict):
            return shown
    except (ValueError, RecursionError):
        pass
    return json.dumps({"input": shown}, ensure_ascii=False)


def _answering(messages: list[Fields]) -> list[Fields]:
    """Merge each run of tool messages into one that answers the call before it, since a browsing
    tool sends each page as a message. The id is empty if no call stands before the run."""
    done: list[Fields] = []
    pages: list[str] = []
    call = ""
    for message in messages:
        if message["role"] != "tool":
            call = next((text(entry["id"]) for entry in message.get("tool_calls", ())), "")
            done.append(message)
        elif done and done[-1]["role"] == "tool":
            pages.append(message["content"])
        elif call or message["content"].strip():
            pages = [message["content"]]
            done.append({"role": "tool", "tool_call_id": call, "content": pages})
    for message in done:
        if message["role"] == "tool":
            message["content"] = "\n".join(filter(None, message["content"]))
    return done


def _text(content: Fields, notes: Fields) -> str:
    """Return the text of a message, with the names of its files, without marks of citations."""
    kind = content.get("content_type")
    if kind in ("code", "execution_output", "system_error"):
        shown = text(content.get("text"))
    elif kind == "tether_quote":
        source = (
            text(content.get("title")) or text(content.get("url")) or text(content.get("domain"))
        )
        shown = f"[{source}]\n{text(content.get('text'))}"
    elif kind == "tether_browsing_display":
        shown = text(content.get("result")) or text(content.get("summary"))
    else:
        parts = content.get("parts")
        shown = "\n".join(filter(None, map(_part, parts if isinstance(parts, list) else ())))
        shown = shown or text(content.get("text"))
    names = [
        f"[file: {text(attachment['name'])}]"
        for attachment in listed(notes.get("attachments"))
        if attachment.get("name") and not text(attachment.get("mime_type")).startswith("image/")
    ]
    return "\n".join(filter(None, (*names, without_marks(shown))))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    content = fields(part)
    kind = text(content.get("content_type"))
    if kind in _ASSETS:
        return f"[{_ASSETS[kind]}]"
    return text(content.get("text"))
