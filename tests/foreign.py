"""Small sessions of other programs, made by hand in the shapes that their sources document."""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA_URL = f"data:image/png;base64,{PNG}"
MINUTE = 1795258067385  # 2026-11-21T10:47:47Z


def text(shown: str) -> Fields:
    return {"type": "text", "text": shown}


def use(id_: str, name: str, given: Any = None) -> Fields:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": id_, "name": name, "input": {} if given is None else given}


def result(id_: str, content: Any) -> Fields:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def picture() -> Fields:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    return {"type": "image", "source": source}


def user(*content: Any, **notes: Any) -> Fields:
    return {"role": "user", "content": _content(content), **notes}


def assistant(*content: Any, **notes: Any) -> Fields:
    return {"role": "assistant", "content": _content(content), **notes}


def _content(given: tuple[Any, ...]) -> Any:
    """A string alone stays one."""
    return given[0] if len(given) == 1 and isinstance(given[0], str) else list(given)


CLINE_STORED: Fields = {
    "version": 1,
    "updated_at": "2026-11-21T10:47:47.868Z",
    "agent": "lead",
    "sessionId": "1_ab",
    "messages": [
        user(text('<user_input mode="act">Fix it, please.</user_input>'), ts=MINUTE),
        assistant(
            {"type": "thinking", "thinking": "hm"},
            text("I look."),
            use("a", "read_files", {"files": [{"path": "/p/a"}]}),
            use("b", "run_commands", {"commands": ["ls"]}),
        ),
        user(result("a", [{"query": "/p/a", "result": "1 | ü", "success": True}])),
        user(result("b", '{"query":"ls","result":"a","success":true}')),
        assistant(text("Done.")),
        user("a note", metadata={"displayOnly": True}),
        user(
            text('<user_input mode="act">And now?</user_input>'),
            {"type": "image", "data": PNG, "mediaType": "image/png"},
        ),
        assistant(use("c", "run_commands")),
    ],
}


def opencode_message(
    id_: str, role: str, text: str | None = None, parts: list[Fields] | None = None, **info: Any
) -> Fields:
    given = parts or []
    return {
        "info": {"id": id_, "role": role, **info},
        "parts": [*given, {"type": "text", "text": text}] if text is not None else given,
    }


def opencode_tool(id_: str, state: Fields, tool: str = "bash") -> Fields:
    return {"type": "tool", "tool": tool, "callID": id_, "state": state}


def opencode_session(messages: list[Fields]) -> Fields:
    time = {"created": 1795258252372, "updated": 1795258258012}
    return {"info": {"id": "ses_1", "title": "A title", "time": time}, "messages": messages}


def opencode_done(output: str, given: Any = None, **state: Any) -> Fields:
    return {"status": "completed", "input": given or {}, "output": output, "time": {}, **state}


OPENCODE_STORED = opencode_session(
    [
        opencode_message("m1", "user", "Fix it.", summary={"diffs": []}),
        opencode_message(
            "m2",
            "assistant",
            finish="tool-calls",
            parts=[
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm"},
                text("I look."),
                opencode_tool("a", opencode_done("a.py\n", {"command": "ls"})),
                opencode_tool(
                    "b",
                    {"status": "error", "input": {"filePath": "/p"}, "error": "no such file"},
                    "read",
                ),
                {"type": "step-finish"},
                {"type": "step-start"},
                text("Done."),
            ],
        ),
        opencode_message(
            "m3",
            "user",
            parts=[
                text("And this?"),
                {**text("a note"), "ignored": True},
                {"type": "file", "mime": "image/png", "url": DATA_URL},
                {"type": "file", "mime": "text/plain", "url": "file:///p/a.py"},
            ],
        ),
        opencode_message(
            "m4",
            "assistant",
            parts=[
                {"type": "step-start"},
                opencode_tool("c", {"status": "running", "input": {}}),
            ],
        ),
    ]
)


def chatgpt_node(
    id_: str, parent: str | None, role: str, parts: list[Any] | None = None, **message: Any
) -> Fields:
    content = message.pop("content", {"content_type": "text", "parts": parts or []})
    author = {"role": role, "name": message.pop("name", None)}
    stored = {"id": id_, "author": author, "content": content, "weight": 1.0, "recipient": "all",
              "metadata": {}, **message}  # fmt: skip
    return {"id": id_, "parent": parent, "children": [], "message": stored}


def chatgpt_conversation(nodes: list[Fields], current: str | None = None, **fields: Any) -> Fields:
    mapping: Fields = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    for node in nodes:
        mapping[node["id"]] = node
        mapping[node["parent"]]["children"].append(node["id"])
    return {
        "title": "Trip",
        "create_time": 1700000000.5,
        "update_time": 1700000600.5,
        "conversation_id": "c-1",
        "mapping": mapping,
        "current_node": current or nodes[-1]["id"],
        **fields,
    }


def chatgpt_simple(id_: str = "c-1", title: str = "Trip") -> Fields:
    nodes = [
        chatgpt_node("1", "root", "user", ["Where to?"]),
        chatgpt_node("2", "1", "assistant", ["North."]),
    ]
    return chatgpt_conversation(nodes, conversation_id=id_, title=title)


def claude_ai_conversation() -> Fields:
    """A conversation of claude.ai's export: one branch was edited away."""
    none = "00000000-0000-4000-8000-000000000000"
    search = {"type": "tool_use", "name": "web_search", "input": {"query": "tulips"}}
    answer = [{"type": "thinking", "thinking": "hm"}, text("I look."), search,
              {"type": "tool_result", "content": [text("15 cm")]}, text("15 cm.")]  # fmt: skip
    asked = {"sender": "human", "files": [{"file_name": "bed.png"}], "parent_message_uuid": none}
    notes = [{"file_name": "notes.txt", "extracted_content": "Clay."}]
    said = [
        {"uuid": "m1", **asked, "content": [text("How deep?")], "attachments": notes},
        {"uuid": "m2", "sender": "assistant", "text": "Ten.", "parent_message_uuid": "m1"},
        {"uuid": "m3", **asked, "content": [text("How deep for tulips?")]},
        {"uuid": "m4", "sender": "assistant", "content": answer, "parent_message_uuid": "m3"},
        {"uuid": "m5", "sender": "human", "text": "Thanks", "content": [],
         "parent_message_uuid": "m4"},
    ]  # fmt: skip
    return {"uuid": "u1", "name": "Garden", "updated_at": "2026-05-01T10:02:00.5Z",
            "chat_messages": said}  # fmt: skip


def claude_line(uuid: str, parent: str | None, role: str, content: Any, **fields: Any) -> Fields:
    message = {"role": role, "content": content}
    if message_id := fields.pop("message_id", None):
        message["id"] = message_id
    return {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "sess-1",
        "isSidechain": False,
        "timestamp": "2026-01-02T03:04:05.000Z",
        "message": message,
        **fields,
    }


CLAUDE_SIMPLE = [
    {"type": "file-history-snapshot", "messageId": "x"},
    claude_line("u1", None, "user", "Fix it."),
    claude_line("a1", "u1", "assistant", [{"type": "text", "text": "Done."}], message_id="m1"),
]


def tavern(name: str, mes: str, mine: bool = False, **fields: Any) -> Fields:
    return {"name": name, "is_user": mine, "is_system": False, "mes": mes, **fields}


TAVERN_SIMPLE: list[Fields] = [
    {"user_name": "Ann", "character_name": "Bob", "chat_metadata": {}},
    tavern("Bob", "Hello, Ann.", send_date="2024-01-05T15:04:00.000Z"),
    tavern("Ann", "Hi!", True, send_date="2024-01-06T00:00:00.000Z"),
]
