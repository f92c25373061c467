"""Files of other programs in hostile shapes, and what reads them; `test_linear_time.py` measures
it."""

from __future__ import annotations

import json
from typing import Any

from memtree_proxy.imports import (
    chatgpt,
    claude_ai,
    claude_code,
    cline_cli,
    cline_tasks,
    codex,
    opencode,
    sillytavern,
    specstory,
)
from memtree_proxy.imports.posted_file import PrefixQuery, parsed, posted_file
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject

ANY_PREFIX = PrefixQuery(b"a" * 32, "t")


def claude_with_one_id(text: str) -> list[dict[str, Any]]:
    """Calls that all name one result, which is as long as all of them."""
    result = {"type": "tool_result", "tool_use_id": "1", "content": text}
    used = {"type": "tool_use", "id": "1", "name": "Read", "input": {}}
    said: list[dict[str, Any]] = [{"role": "user", "content": [result]}]
    said.append({"role": "assistant", "id": "m", "content": [{**used, "name": text}]})
    said += [
        {"role": "assistant", "id": f"m{at}", "content": [used]} for at in range(len(text) // 40)
    ]
    return [
        {"type": one["role"], "uuid": f"{at}", "parentUuid": f"{at - 1}", "message": one}
        for at, one in enumerate(said)
    ]


def claude_as_sent(text: str) -> list[dict[str, Any]]:
    """Messages of the user that all have the words of one that was sent with much more."""
    long = [{"type": "text", "text": piece} for piece in (*hostile.cut(text, 40), "x")]
    sent = {"type": "api-request-blob", "message": {"role": "user", "content": long}}
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": "x"} for at in range(len(text) // 40)]
    return [
        sent,
        *(
            {"type": one["role"], "uuid": f"{at}", "parentUuid": f"{at - 1}", "message": one}
            for at, one in enumerate(said)
        ),
    ]


def cline_with_one_id(text: str) -> list[dict[str, Any]]:
    """Results that all answer one call for many files, and calls of one long name."""
    pieces = hostile.cut(text, 40)
    files = {"type": "tool_use", "id": "1", "name": "read_files", "input": {"file_paths": pieces}}
    lost = [{"type": "tool_use", "id": "2", "name": text, "input": {}} for _ in pieces[:1]]
    lost += [{"type": "tool_use", "id": "2", "name": "f", "input": {}} for _ in pieces]
    results = [{"type": "tool_result", "tool_use_id": "1", "content": ""} for _ in pieces]
    return [
        {"role": "assistant", "content": [files, *lost[::-1]]},
        {"role": "user", "content": results},
    ]


def codex_calls(text: str) -> list[dict[str, Any]]:
    """Calls that nobody answers, outputs that answer one call, turns that are rolled back."""
    pieces = hostile.cut(text, 40)
    made: list[dict[str, Any]] = []
    for at, piece in enumerate(pieces):
        made.append({"type": "message", "role": "user", "content": piece})
        made.append({"type": "function_call", "call_id": f"{at}", "name": piece})
        made.append({"type": "function_call_output", "call_id": "0", "output": piece})
    back = {"type": "thread_rolled_back", "num_turns": 1}
    lines = [{"type": "response_item", "payload": one} for one in made]
    lines += [{"type": "compacted", "payload": {"message": piece}} for piece in pieces]
    lines += [{"type": "compacted", "payload": {"replacement_history": made[:3]}} for _ in pieces]
    return [*lines, *({"type": "event_msg", "payload": back} for _ in pieces)]


def codex_compacted(text: str) -> list[dict[str, Any]]:
    """Messages, and a compaction that keeps each of them many times."""
    said = {"type": "message", "role": "user"}
    made = [{**said, "id": f"{at}", "content": one} for at, one in enumerate(hostile.cut(text, 4))]
    lines = [{"type": "response_item", "payload": one} for one in made]
    return [*lines, {"type": "compacted", "payload": {"replacement_history": made * 20}}]


def claude_compacted(text: str) -> list[dict[str, Any]]:
    """Lines without their parents, and compactions that keep all of them and none."""
    lines: list[dict[str, Any]] = []
    for at, piece in enumerate(hostile.cut(text, 40)):
        said = {"role": "user", "content": piece}
        lines.append({"type": "user", "uuid": f"u{at}", "parentUuid": f"{at}", "message": said})
        segment = {"headUuid": "none", "tailUuid": f"u{at}", "anchorUuid": "u0"}
        kept = {"compactMetadata": {"preservedSegment": segment}, "logicalParentUuid": "u0"}
        lines.append({"type": "system", "subtype": "compact_boundary", "uuid": f"b{at}", **kept})
    ids = [line["uuid"] for line in lines]
    lines[-1]["compactMetadata"] = {"preservedMessages": {"anchorUuid": "u0", "uuids": ids}}
    return lines


def claude_ai_export(text: str) -> list[dict[str, Any]]:
    blocks = [{"type": "tool_use"}, {"type": "tool_result", "content": "x"}]
    said = [
        {"sender": "human", "uuid": f"{at}", "parent_message_uuid": piece, "content": blocks}
        for at, piece in enumerate(hostile.cut(text, 40))
    ]
    return [{"chat_messages": said}]


def posted_lines(text: str) -> bytes:
    lines = [{"mes": piece, "send_date": piece} for piece in hostile.cut(text, 40)]
    return b"\n".join(json.dumps(line).encode() for line in lines)


def posted_messages(text: str) -> bytes:
    roles = ("user", "assistant")
    said = [
        {"role": roles[at % 2], "content": piece} for at, piece in enumerate(hostile.cut(text, 40))
    ]
    return json.dumps(said).encode()


PIECES = {
    "a session of Cline": Subject(lambda data: cline_cli.read("a", data, "1"), hostile.spoken),
    "ChatGPT": Subject(lambda data: list(chatgpt.read("a", data)), hostile.chatgpt),
    "Claude Code": Subject(lambda data: claude_code.read(data, "s", False), hostile.claude),
    "Roo": Subject(
        lambda data: cline_tasks.read("a", data, "1", False, hostile.nothing, "roo"),
        hostile.anthropic,
    ),
    "Cline": Subject(lambda data: cline_cli.read("a", {"messages": data}, "1"), hostile.anthropic),
    "Claude Code with one id": Subject(
        lambda data: claude_code.read(data, "s", False), claude_with_one_id
    ),
    "Claude Code as it was sent": Subject(
        lambda data: claude_code.read(data, "s", False), claude_as_sent
    ),
    "Claude Code, compacted": Subject(
        lambda data: [claude_code.read(data, "s", whole) for whole in (False, True)],
        claude_compacted,
    ),
    "claude.ai": Subject(lambda data: list(claude_ai.read("a", data)), claude_ai_export),
    "Codex": Subject(lambda data: codex.read(data, "s", False), codex_calls),
    "Codex, compacted": Subject(lambda data: codex.read(data, "s", True), codex_compacted),
    "Cline with one id": Subject(
        lambda data: cline_cli.read("a", {"messages": data}, "1"), cline_with_one_id
    ),
    "a posted file": Subject(
        hostile.refused(lambda raw: parsed(posted_file(raw), ANY_PREFIX)), str.encode
    ),
    "posted lines": Subject(
        hostile.refused(lambda raw: parsed(posted_file(raw), ANY_PREFIX)), posted_lines
    ),
    "posted messages": Subject(
        hostile.refused(lambda raw: parsed(posted_file(raw), ANY_PREFIX)),
        posted_messages,
    ),
    "opencode": Subject(lambda data: opencode.read("a", data, False), hostile.opencode),
    "SillyTavern": Subject(
        lambda data: sillytavern.read(data, "s", "n"),
        lambda text: [{"mes": piece, "send_date": piece} for piece in hostile.cut(text, 40)],
    ),
}
TEXTS = {
    "Markdown of SpecStory": Subject(lambda text: specstory.read(f"_**User**_\n\n{text}", "s")),
    "no Markdown of SpecStory": Subject(specstory.is_history, lambda text: f"# {text}".encode()),
}
READS = {
    "Markdown of SpecStory": (
        "_**User**_\n",
        "---\n\n_**User**_\n```a\n",
        "```\n",
        "~~~~~\n",
        "<think>\n",
        "<tool-use\n",
        "<tool-use\n```\n</tool-use>\n",
        '<tool-use data-tool-type="shell" data-tool-name="b">\n`x`\n```sh\n```\n</tool-use>\n',
    ),
    "a session of Cline": hostile.TAGS,
    "a posted file": (*hostile.JSON, "9", '{"role":"user"},', "[{"),
}
