"""The export of claude.ai: `conversations.json` and projects, alone or in the zip they come in.

A conversation is a list of messages, each with the message that it answers where the export tells;
what was edited away is in it as well. Messages hold Anthropic blocks, but a tool's result stands in
the message of the call. Thoughts are left out. Texts of attached files are part of the message;
other files are not in the export, so a line that names them takes their place. A project becomes a
conversation in which the user gives its instructions and its documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from memtree_proxy.imports import blocks
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    branch,
    entries,
    listed,
    moment,
    newest,
    paired,
    text,
    titled,
)

_ROOT = "00000000-0000-"  # begins the id that stands for no message
_SENT = ("text", "tool_use", "tool_result")
_ROLES = {"human": "user", "assistant": "assistant"}


def is_exported(value: Fields) -> bool:
    """Return True for a conversation or a project of an export."""
    project = isinstance(value.get("docs"), list) and "prompt_template" in value
    return project or isinstance(value.get("chat_messages"), list)


def read(name: str, data: Any) -> Iterator[Conversation]:
    """Yield the conversations and projects of a file."""
    stored, notes = entries(data, f"{name}: conversations")
    for number, exported in enumerate(stored):
        if is_exported(exported):
            made = _conversation if "chat_messages" in exported else _project
            talk = made(exported, text(exported.get("uuid")) or str(number + 1))
            yield replace(talk, notes=notes + talk.notes)


def _project(stored: Fields, id_: str) -> Conversation:
    given = [{"extracted_content": stored.get("prompt_template")}]
    given += [
        {"file_name": doc.get("filename"), "extracted_content": doc.get("content")}
        for doc in listed(stored.get("docs"))
    ]
    made = tuple({"role": "user", "content": said} for file in given if (said := _attached(file)))
    when = moment(stored.get("updated_at") or stored.get("created_at"))
    title = titled(f"Project {text(stored.get('name'))}", made)
    return Conversation("claude-ai", id_, title, when, made)


def _conversation(stored: Fields, id_: str) -> Conversation:
    said = listed(stored.get("chat_messages"))
    chosen, notes = _shown(said, text(stored.get("current_leaf_message_uuid")))
    turns = [turn for at, message in enumerate(chosen) for turn in _turns(message, at)]
    made = paired(blocks.converted(turns, blocks.KILO))
    when = moment(stored.get("updated_at") or stored.get("created_at"))
    title = titled(stored.get("name"), made)
    return Conversation("claude-ai", id_, title, when, tuple(made), notes=notes)


def _shown(said: list[Fields], leaf: str) -> tuple[list[Fields], tuple[str, ...]]:
    """Return the messages of the branch shown last; all of them if none names another."""
    if not any(text(message.get("parent_message_uuid")) for message in said):
        return said, ()
    by_id = {text(message.get("uuid")) or str(at): message for at, message in enumerate(said)}
    named = {key: text(message.get("parent_message_uuid")) for key, message in by_id.items()}
    parents = {key: "" if id_.startswith(_ROOT) else id_ for key, id_ in named.items()}
    order = list(by_id)
    path, notes = branch(leaf if leaf in by_id else newest(order, parents), parents, order)
    return [by_id[key] for key in path if key in by_id], notes


def _turns(message: Fields, at: int) -> Iterator[Fields]:
    """Yield a message in the form of the API: results of tools are the user's."""
    role = _ROLES.get(text(message.get("sender")))
    content = _content(message, at)
    if not role or not content:
        return
    for results, run in groupby(content, lambda block: block.get("type") == "tool_result"):
        yield {"role": "user" if results else role, "content": list(run)}


def _content(message: Fields, at: int) -> list[Fields]:
    content = [block for block in listed(message.get("content")) if block.get("type") in _SENT]
    if not content:  # older exports have the text alone
        content = [{"type": "text", "text": text(message.get("text"))}]
    files = [*listed(message.get("attachments")), *listed(message.get("files"))]
    done: list[Fields] = [{"type": "text", "text": _attached(file)} for file in files]
    call = ""
    for number, block in enumerate(content):
        if block["type"] == "tool_use":
            call = text(block.get("id")) or f"call-{at}-{number}"
            block = {**block, "id": call}
        elif block["type"] == "tool_result":
            block = {**block, "tool_use_id": text(block.get("tool_use_id")) or call}
        done.append(block)
    return [block for block in done if block["type"] != "text" or text(block.get("text")).strip()]


def _attached(file: Fields) -> str:
    name = text(file.get("file_name"))
    line = f"[file: {name}]" if name else ""
    return "\n".join(filter(None, (line, text(file.get("extracted_content")))))
