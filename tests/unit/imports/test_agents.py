"""Coding agents: what is imported has the addresses of what the client sends.

The expected messages are written out by hand from the clients' own converters.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree_proxy.imports import cline_cli, cline_tasks, js, opencode
from tests.foreign import (
    CLINE_STORED,
    DATA_URL,
    OPENCODE_STORED,
    Fields,
    assistant,
    opencode_done,
    opencode_message,
    opencode_session,
    opencode_tool,
    picture,
    result,
    text,
    use,
    user,
)

IMAGE = {"type": "image_url", "image_url": {"url": DATA_URL}}


def addresses(messages: Any) -> tuple[bytes, ...]:
    read = [Message(json.dumps(one, ensure_ascii=False).encode()) for one in messages]
    return chat_history.read("tenant", read, Volatile()).addresses


def task(data: Any, format_: str, whole: bool = False, **files: Any) -> Any:
    beside = {"ui_messages.json": files.get("shown"), "context_history.json": files.get("edits")}
    return cline_tasks.read("x", data, "1795258067045", whole, beside.get, format_)


def called(content: str | None, *calls: tuple[str, str, str], **more: Any) -> Fields:
    """An assistant message with tool calls: id, name, arguments."""
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    return {"role": "assistant", "content": content, **more, "tool_calls": made}


def tool(id_: str, content: str) -> Fields:
    return {"role": "tool", "tool_call_id": id_, "content": content}


# ---------------------------------------------------------------- task folders

STORED: list[Fields] = [
    user(
        text("<task>\nfix it\n</task>"),
        text("<environment_details>\nnow\n</environment_details>"),
    ),
    assistant(
        text("I look."),
        text("Both."),
        use("a", "read_file", {"path": "ü.py", "n": 1.0, "2": None}),
        use("b", "shot"),
    ),
    user(
        text("and hurry"),
        result("a", [text("x = 1"), text("y = 2")]),
        result("b", [picture()]),
        picture(),
    ),
    assistant({"type": "thinking", "thinking": "hm"}, text("\n"), use("c", "ls", {"path": "."})),
    user(result("c", "")),
    assistant("done"),
]
BEGINNING: list[Fields] = [
    {"role": "system", "content": "You are an agent. It is 12:31."},
    user(
        text("<task>\nfix it\n</task>"),
        text("<environment_details>\nlater\n</environment_details>"),
    ),
    called(
        "I look.\nBoth.",
        ("a", "read_file", '{"2":null,"path":"ü.py","n":1}'),
        ("b", "shot", "{}"),
    ),
    tool("a", "x = 1\ny = 2"),
    tool("b", "(see following user message for image)"),
]
SENT = {
    "cline": [
        *BEGINNING,
        user(IMAGE),
        user(text("and hurry"), IMAGE),
        called(None, ("c", "ls", '{"path":"."}')),
        tool("c", ""),
        assistant("done"),
    ],
    "roo": [
        *BEGINNING,
        user(text("and hurry"), IMAGE),
        called("\n", ("c", "ls", '{"path":"."}')),
        tool("c", "(empty)"),
        assistant("done"),
    ],
}
SENT["kilo"] = SENT["roo"]


@pytest.mark.parametrize("format_", ["cline", "roo", "kilo"])
def test_a_task_has_the_addresses_of_the_requests_that_follow(format_: str) -> None:
    found = task(STORED, format_)
    assert addresses(found.messages) == addresses(SENT[format_])
    assert found.date == "2026-11-21T10:47Z"
    assert found.id == "1795258067045"


def test_the_three_are_not_told_apart_in_vain() -> None:
    made = {format_: addresses(task(STORED, format_).messages) for format_ in ("cline", "roo")}
    assert made["cline"] != made["roo"]
    empty = [user(text(""), text("x"))]
    assert len(task(empty, "roo").messages[0]["content"]) == 2
    assert len(task(empty, "kilo").messages[0]["content"]) == 1


@pytest.mark.parametrize(
    ("origin", "notes", "format_"),
    [
        ("/g/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json", {}, "cline"),
        ("/g/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json", {}, "roo"),
        ("/g/kilocode.kilo-code/tasks/1/api_conversation_history.json", {}, "kilo"),
        ("/copy/1/api_conversation_history.json", {"condenseParent": "x"}, "roo"),
        ("/copy/1/api_conversation_history.json", {"modelInfo": {}}, "cline"),
        ("/root/kilo/1/api_conversation_history.json", {}, "cline"),
    ],
)
def test_whose_task_it_is(origin: str, notes: Fields, format_: str) -> None:
    assert cline_tasks.owner(origin, [user("x", **notes)]) == format_


def test_cline_sends_what_it_has_not_cut_with_its_latest_texts() -> None:
    stored = [
        say(text(f"{say.__name__} {number}")) for number in range(4) for say in (user, assistant)
    ]
    cut = "conversationHistoryDeletedRange"
    shown = [{"say": "task", "text": "the task"}, {cut: [2, 3]}, {cut: [2, 5]}, {"say": "text"}]
    changes = [[1, "text", ["older"]], [2, "text", ["[NOTE] removed"]]]
    edits = [[1, [0, [[0, changes]]]], [9, [0, []]]]
    found = task(stored, "cline", shown=shown, edits=edits)
    assert list(found.messages) == [
        user(text("user 0")),
        assistant("[NOTE] removed"),
        user(text("user 3")),
        assistant("assistant 3"),
    ]
    assert found.dropped == 4
    assert found.title == "the task"
    whole = task(stored, "cline", whole=True, shown=shown, edits=edits)
    assert len(whole.messages) == 8
    assert whole.dropped == 0


@pytest.mark.parametrize("edits", [{"no": "list"}, [[1]], [[1, [0, [[0, []]]]]], 5, "text"])
def test_edits_that_cannot_be_read_are_none(edits: Any) -> None:
    assert task([user(text("a"))], "cline", edits=edits).messages == (user(text("a")),)


def test_roo_sends_from_the_last_summary_on() -> None:
    stored = [
        user("first", condenseParent="s"),
        assistant(use("old", "ls"), condenseParent="s"),
        user("the summary", isSummary=True, condenseId="s"),
        user(result("old", "gone"), text("go on")),
        user(result("old", "gone")),
        assistant("hidden", truncationParent="t"),
        user("marker", isTruncationMarker=True, truncationId="t"),
        assistant("yes"),
    ]
    found = task(stored, "roo")
    sent = [user("the summarygo on"), user("marker"), assistant("yes")]
    assert addresses(found.messages) == addresses(sent)
    assert found.dropped == 4
    whole = str(task(stored, "roo", whole=True).messages)
    assert "first" in whole
    assert "hidden" in whole


def test_roo_sends_what_was_hidden_for_a_summary_that_is_gone() -> None:
    stored = [user("first", condenseParent="gone"), assistant("two", truncationParent="gone")]
    assert len(task(stored, "roo").messages) == 2


def test_roo_sends_messages_of_the_user_in_a_row_as_one() -> None:
    stored = [user("a"), user(text("b"))]
    assert addresses(task(stored, "roo").messages) == addresses([user("ab")])
    assert len(task(stored, "cline").messages) == 2


def test_a_task_that_was_cut_off_has_an_answer_to_every_call() -> None:
    found = task(STORED[:2], "roo")
    assert [one["role"] for one in found.messages] == ["user", "assistant", "tool", "tool"]
    assert "interrupted" in found.messages[-1]["content"]


# ---------------------------------------------------------------- the Cline command line


def cline(*messages: Fields) -> list[Fields]:
    stored = {"sessionId": "s", "messages": list(messages)}
    return list(cline_cli.read("x", stored, "x").messages)


def test_a_session_of_cline_has_the_addresses_of_its_requests() -> None:
    found = cline_cli.read("x", CLINE_STORED, "x")
    lost = "Tool execution was interrupted before a result was produced. Tool: run_commands."
    assert list(found.messages) == [
        user("Fix it, please."),
        called(
            "I look.",
            ("a", "read_files", '{"files":[{"path":"/p/a"}]}'),
            ("b", "run_commands", '{"commands":["ls"]}'),
            reasoning_content="hm",
        ),
        tool("a", '[{"query":"/p/a","result":"1 | ü","success":true}]'),
        tool("b", '{"query":"ls","result":"a","success":true}'),
        assistant("Done."),
        user(text("And now?"), IMAGE),
        called(None, ("c", "run_commands", "{}")),
        tool("c", f'[{{"type":"text","text":"{lost}"}}]'),
    ]
    assert found.id == "1_ab"
    assert found.title == "Fix it, please."


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('<user_input mode="act"> go </user_input>', "go"),
        ('<user_input mode="plan">a</user_input>\n<user_input mode="act">b</user_input>', "a\nb"),
        ('<user_command slash="x">go</user_command>', "go"),
        ('<user_input mode="act">open', "open"),
        ("\ufeff plain\u00a0", "plain"),
        ("  ", "ERROR: EMPTY CONTENT"),
    ],
)
def test_cline_takes_its_tags_off(written: str, sent: str) -> None:
    assert cline(user(text(written))) == [user(sent)]


def test_cline_cuts_long_results_in_the_middle() -> None:
    entry = {"query": "q", "result": "a" * 6000 + "b" * 6000}
    made = cline(assistant(use("a", "x")), user(result("a", [entry])))
    shown = json.loads(made[1]["content"])[0]["result"]
    assert shown == "a" * 3984 + "\n\n...[truncated 4032 chars]...\n\n" + "b" * 3984


def test_cline_hands_pictures_of_results_on_as_json() -> None:
    image = {"type": "image", "data": "AAAA", "mediaType": "image/png"}
    entry = {"query": "q", "result": image}
    made = cline(
        assistant(use("a", "x"), use("b", "x")),
        user(result("a", [text("t"), image]), result("b", [entry])),
    )
    held = {"type": "file", "data": {"type": "data", "data": "AAAA"}, "mediaType": "image/png"}
    assert json.loads(made[1]["content"]) == [text("t"), held]
    assert json.loads(made[2]["content"]) == [
        text('[{"query":"q","result":"[image attached]"}]'),
        held,
    ]


@pytest.mark.parametrize(("before", "faces"), [("", 1984), ("x", 1983)])
def test_a_cut_is_measured_as_javascript_does(before: str, faces: int) -> None:
    face = "\U0001f600"  # two units of UTF-16; the numbers are those of Node
    cut = js.cut_middle(before + face * 3000, 4000, "\n\n...[truncated {} chars]...\n\n".format)
    assert len(cut.encode("utf-16-le")) == 8000
    assert cut.count(face) == faces
    assert ("\ufffd" in cut) is bool(before)


# ---------------------------------------------------------------- opencode and Kilo


def contents(stored: Fields, whole: bool = False) -> list[Any]:
    return [one["content"] for one in opencode.read("x", stored, whole).messages]


def test_a_session_of_opencode_has_the_addresses_of_its_requests() -> None:
    found = opencode.read("x", OPENCODE_STORED, whole=False)
    assert list(found.messages) == [
        user("Fix it."),
        called(
            "I look.",
            ("a", "bash", '{"command":"ls"}'),
            ("b", "read", '{"filePath":"/p"}'),
            reasoning_content="hm",
        ),
        tool("a", "a.py\n"),
        tool("b", "no such file"),
        assistant("Done."),
        user(text("And this?"), IMAGE),
        called("", ("c", "bash", "{}")),
        tool("c", "[Tool execution was interrupted]"),
    ]
    assert (found.id, found.title, found.date) == ("ses_1", "A title", "2026-11-21T10:50Z")


def test_kilo_adds_a_part_whose_tag_is_not_hashed() -> None:
    found = opencode.read("x", OPENCODE_STORED, whole=False, kilo=True)
    details = "<environment_details>\nMessage time: now\n</environment_details>"
    sent = user(text("Fix it."), text(f"\n\n{details}"))
    assert addresses(found.messages[:1]) == addresses([sent])
    assert addresses(found.messages[:1]) != addresses([user("Fix it.")])
    assert found.format == "kilo"


def test_opencode_sends_from_its_summary_on_and_the_rounds_it_kept() -> None:
    summary: Fields = {"summary": True, "finish": "stop", "parentID": "u3"}
    stored = [
        opencode_message("u1", "user", "one"),
        opencode_message("a1", "assistant", "first"),
        opencode_message("u2", "user", "two"),
        opencode_message("a2", "assistant", "second"),
        opencode_message("u3", "user", parts=[{"type": "compaction", "tail_start_id": "u2"}]),
        opencode_message("a3", "assistant", "the summary", **summary),
        opencode_message("u4", "user", "three"),
    ]
    session = opencode_session(stored)
    begun = ["What did we do so far?", "the summary"]
    assert contents(session) == [*begun, "two", "second", "three"]
    assert opencode.read("x", session, whole=False).dropped == 2
    assert len(contents(session, whole=True)) == 7
    stored[4]["parts"] = [{"type": "compaction"}]
    assert contents(session) == [*begun, "three"]


def test_opencode_leaves_out_what_failed_or_was_taken_back() -> None:
    aborted = {"name": "MessageAbortedError"}
    session = opencode_session(
        [
            opencode_message("u1", "user", "one"),
            opencode_message("a1", "assistant", "half", error=aborted),
            opencode_message("a2", "assistant", parts=[{"type": "step-start"}], error=aborted),
            opencode_message("a3", "assistant", "broken", error={"name": "APIError"}),
            opencode_message("u2", "user", "taken back"),
        ]
    )
    session["info"]["revert"] = {"messageID": "u2"}
    assert contents(session) == ["one", "half"]


def test_opencode_clears_old_results_and_hands_pictures_on() -> None:
    shown = {"mime": "image/png", "url": DATA_URL}
    so_far = {"interrupted": True, "output": "so far"}
    tools = [
        opencode_tool("a", opencode_done("long", time={"compacted": 1})),
        opencode_tool("b", opencode_done("ok", attachments=[shown])),
        opencode_tool("c", {"status": "error", "input": {}, "error": "E", "metadata": so_far}),
    ]
    session = opencode_session([opencode_message("a1", "assistant", parts=tools)])
    assert contents(session)[1:] == [
        "[Old tool result content cleared]",
        "ok",
        "so far",
        [text("Attached media from tool result:"), IMAGE],
    ]


# ---------------------------------------------------------------- JSON as JavaScript writes it


@pytest.mark.parametrize(
    ("given", "written"),
    [
        # as Node printed them
        ("[0,-0,1.0,1.5,1e20,1e21,1.5e21]", "[0,0,1,1.5,100000000000000000000,1e+21,1.5e+21]"),
        ("[1e-6,1e-7,1.25e-7,5e-324]", "[0.000001,1e-7,1.25e-7,5e-324]"),
        ("[12345678901234567890,-2.5,0.000001234]", "[12345678901234567000,-2.5,0.000001234]"),
        ('{"b":1,"10":2,"9":3,"01":4,"-1":5}', '{"9":3,"10":2,"b":1,"01":4,"-1":5}'),
        ('["\\u007f\\u0001\\n\\u2028\\"ü"]', '["\x7f\\u0001\\n\u2028\\"ü"]'),
        ("[true,false,null,{},[]]", "[true,false,null,{},[]]"),
    ],
)
def test_stringify(given: str, written: str) -> None:
    assert js.stringify(json.loads(given)) == written
