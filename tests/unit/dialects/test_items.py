"""Single items of the Responses API."""

from __future__ import annotations

import json

import pytest

from memtree.dialects import responses_conversation
from memtree.dialects.responses_items import INPUT, InputItems, ItemCache, ItemKind, read_item
from memtree.dialects.translated_messages import Beginning, raw_items
from memtree.errors import BadRequest
from memtree.history import json_body
from tests.unit.dialects.test_responses_canonical import call, output, said, thought, user

# ------------------------------------------------------------------------------------------------
# Calls as a chat would say them.


def named_call(**fields):
    return json.loads(read_item(json.dumps(fields).encode(), "input[0]").call)


def test_a_function_call_is_one_of_a_chat():
    given = {"id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"path": "a"}'}
    assert named_call(type="function_call", status="completed", **given) == {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path":"a"}'},
    }


def test_a_custom_call_keeps_its_text():
    assert named_call(type="custom_tool_call", call_id="c", name="sh", input="ls -l\n") == {
        "id": "c",
        "type": "custom",
        "custom": {"name": "sh", "input": "ls -l\n"},
    }


@pytest.mark.parametrize(
    ("fields", "name", "arguments"),
    [
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}},
            "local_shell",
            '{"type":"exec","command":["ls"]}',
        ),
        (
            {"type": "shell_call", "action": {"commands": ["ls"]}, "environment": {"a": 1}},
            "shell",
            '{"commands":["ls"]}',
        ),
        (
            {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}},
            "apply_patch",
            '{"type":"delete_file","path":"a"}',
        ),
        (
            {"type": "computer_call", "actions": [{"type": "wait"}], "pending_safety_checks": []},
            "computer",
            '{"actions":[{"type":"wait"}]}',
        ),
        ({"type": "tool_search_call", "arguments": {"q": "x"}}, "tool_search", '{"q":"x"}'),
        ({"type": "program", "code": "f()", "fingerprint": "zzz"}, "program", "f()"),
        (
            {
                "type": "mcp_approval_request",
                "server_label": "git",
                "name": "push",
                "arguments": "{}",
            },
            "git.push",
            "{}",
        ),
        (
            {"type": "teleport_call", "to": "a", "how": "fast"},
            "teleport",
            '{"to":"a","how":"fast"}',
        ),
        (
            {"type": "function_call", "namespace": "mail", "name": "send", "arguments": None},
            "mail.send",
            "",
        ),
    ],
)
def test_every_other_call_has_a_name_and_arguments(fields, name, arguments):
    found = named_call(id="x_1", call_id="c", status="completed", **fields)
    assert found["id"] == "c"
    assert found["function"] == {"name": name, "arguments": arguments}


def test_a_call_without_a_call_id_goes_by_its_own():
    read = read_item(b'{"type":"local_shell_call","id":"lsh_1","action":{}}', "input[0]")
    assert read.ids == ("lsh_1",)


# ------------------------------------------------------------------------------------------------
# A canonical message is made again as it was made first.


LOADED = {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "a"}]}
MARKED = [{"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}]
ITEMS = [
    user("before"), said("before"), {"role": "user", "content": "no type"},
    {"type": "compaction", "encrypted_content": "x"}, user("a"), thought(), said("b", id="m"),
    {**call("1"), "type": "local_shell_call", "action": {}}, call("2"), call("3"), output("2"),
    {"type": "local_shell_call_output", "id": "fc_1", "output": "x"}, LOADED, user(MARKED),
    {"type": "function_call_output", "call_id": "3", "output": MARKED},
]  # fmt: skip


def test_every_message_is_made_again_as_it_was():
    raws = [json.dumps(item).encode() for item in ITEMS]
    items = [read_item(raw, f"input[{at}]") for at, raw in enumerate(raws)]
    made = responses_conversation.read_on(raws, items, Beginning())
    assert any(message.loads for message in made.messages)
    assert any(message.joined for message in made.messages)
    assert made.translated.other_ids
    assert made.translated.sealed == 4
    again = [
        responses_conversation.message(made.translated, raws, items, index)
        for index in range(len(made.messages))
    ]
    assert [facts(message) for message in again] == [facts(message) for message in made.messages]


def facts(message):
    return message.raw, message.joined, message.loads, message.aside


# ------------------------------------------------------------------------------------------------
# Single items: what each is, and what cannot be read is named.


def item(**fields):
    return read_item(json.dumps(fields).encode(), "input[3]")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"role": "user", "content": "hi"}, ItemKind.USER),
        ({"type": None, "role": "user", "content": None}, ItemKind.USER),
        ({"type": "message", "role": "developer", "content": "be brief"}, ItemKind.SYSTEM),
        ({"type": "additional_tools", "role": "developer", "tools": []}, ItemKind.SYSTEM),
        ({"type": "configuration_update", "reasoning": {"effort": "low"}}, ItemKind.SYSTEM),
        ({"role": "assistant", "content": "hi"}, ItemKind.MODEL),
        ({"type": "reasoning", "summary": [], "content": None}, ItemKind.MODEL),
        ({"type": "web_search_call", "id": "ws_1", "action": None}, ItemKind.MODEL),
        ({"type": "what_comes_next", "id": "wn_1"}, ItemKind.MODEL),
        ({"type": "what_comes_next_output"}, ItemKind.MODEL),
        ({"type": "what_comes_next_output", "call_id": "c"}, ItemKind.OUTPUT),
        ({"type": "function_call_output", "call_id": "c", "output": "x"}, ItemKind.OUTPUT),
        ({"type": "mcp_approval_response", "approval_request_id": "a"}, ItemKind.OUTPUT),
        ({"type": "compaction", "encrypted_content": "x"}, ItemKind.COMPACTION),
        ({"type": "item_reference", "id": "msg_1"}, ItemKind.SERVER_STATE),
        ({"id": "msg_1"}, ItemKind.SERVER_STATE),
        ({"type": "compaction_trigger"}, ItemKind.SERVER_STATE),
    ],
)
def test_each_item_is_of_one_kind(fields, kind):
    assert item(**fields).kind is kind


@pytest.mark.parametrize(
    ("raw", "kind", "told"),
    [
        (b'"hello"', ItemKind.OTHER, b""),
        (b'{"type": "message", "role": "user", "content": "\\ud800"}', ItemKind.USER, b""),
        (b'{"type": 1, "role": "user", "content": "x"}', ItemKind.USER, b""),
        (b'{"role": "critic", "content": "x"}', ItemKind.OTHER, b""),
        (b'{"role": {}, "content": "x"}', ItemKind.OTHER, b""),
        (b'{"role": "user", "content": 1}', ItemKind.USER, b""),
        (b'{"role": "assistant", "content": [1, {"text": "x"}]}', ItemKind.MODEL, b"1x"),
        (b'{"role": "assistant", "content": {"a": 1}}', ItemKind.MODEL, rb"{\"a\": 1}"),
        (
            b'{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}',
            ItemKind.MODEL,
            b"No.",
        ),
        (b'{"type": "function_call", "call_id": 1, "name": "a"}', ItemKind.MODEL, b'"1"'),
        (b'{"type": "function_call", "call_id": "a"}', ItemKind.MODEL, b"unknown"),
        (b'{"type": "function_call_output", "call_id": 1}', ItemKind.OUTPUT, b'"1"'),
        (
            b'{"type": "function_call_output", "call_id": "c", "output": "a", "output": "b"}',
            ItemKind.OUTPUT,
            b'"b"',
        ),
        (b'{"type": "function_call_output", "output": ["a", {"b": 1}]}', ItemKind.OUTPUT, b"a"),
        (b'{"type": "function_call", "arguments": {"n": 1e999}}', ItemKind.MODEL, b"1e999"),
    ],
)  # fmt: skip
def test_what_some_server_accepts_is_read(raw, kind, told):
    made = read_item(raw, "input[3]")
    assert made.kind is kind
    assert told in made.text + made.call + made.opening + made.canonical


@pytest.mark.parametrize("raw", [b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b'{"a":"\xff"}', b"{"])
def test_what_cannot_be_read_is_named(raw):
    with pytest.raises(BadRequest) as raised:
        read_item(raw, "input[3]")
    assert raised.value.param == "input[3]"


def test_a_message_of_the_user_is_its_own_canonical_form():
    assert item(type="message", id="msg_1", role="user", content="hi").canonical == b""


def test_a_cache_breakpoint_is_a_cache_marker():
    marker = {"mode": "explicit", "ttl": "12h"}
    part = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": marker}
    found = item(type="message", role="user", content=[part, {"type": "input_text", "text": "b"}])
    assert json.loads(found.canonical) == {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "a", "cache_control": marker},
            {"type": "input_text", "text": "b"},
        ],
    }
    output = item(type="function_call_output", call_id="c", output=[part])
    assert json.loads(output.canonical)[0]["cache_control"] == marker


def test_of_an_output_only_the_place_is_kept():
    raw = b'{"type":"function_call_output", "call_id":"c", "output" : "four" }'
    found = read_item(raw, "input[0]")
    assert found.output is not None
    assert raw[slice(*found.output)] == b'"four"'
    assert found.size == len(found.opening)


def test_encrypted_reasoning_is_what_counts():
    raw = (
        b'{"type":"reasoning","summary":[{"type":"summary_text","text":"seen"}],'
        b'"encrypted_content":"gAAAA"}'
    )
    sealed = read_item(raw, "input[0]")
    assert sealed.sealed is not None
    assert raw[slice(*sealed.sealed)] == b'"gAAAA"'
    assert sealed.reasoning == ()
    shown = item(type="reasoning", summary=[{"type": "summary_text", "text": "seen"}], content=None)
    assert shown.reasoning == (b'"seen"',)
    assert shown.reasons
    assert not shown.identified


def test_an_unknown_item_is_kept_whole_without_what_the_server_counts():
    (part,) = item(type="dream", id="dr_1", status="completed", depth=3).parts
    assert json.loads(part) == {"type": "dream", "depth": 3}


def test_an_unknown_item_may_have_any_role():
    assert item(type="dream", role={"a": []}).kind is ItemKind.MODEL


def test_tools_among_the_items_are_counted():
    tools = [{"type": "function", "name": "read", "description": "word " * 300}]
    assert item(type="additional_tools", role="developer", tools=tools).tools_tokens > 300


# ------------------------------------------------------------------------------------------------
# Items that are read when they are looked at, once.


BODY = b'{"input": [{"role":"user","content":"a"}]}'


class Counted(ItemCache):
    kept = 0

    def put(self, *given):
        self.kept += 1
        super().put(*given)


def items(cache: ItemCache, tenant: str = "t") -> InputItems:
    raws = raw_items(json_body.split(BODY), INPUT)
    assert raws is not None
    return InputItems(raws, tenant, cache)


def test_an_item_is_read_once():
    cache = Counted(1)
    found = items(cache)
    assert cache.kept == 0
    assert found[0] is found[0]
    assert items(cache)[0] is found[0]
    assert cache.kept == 1
    assert items(cache, "other")[0] is not found[0]


# ------------------------------------------------------------------------------------------------
# Outputs of calls, as content of a tool message.


def tool_output(**fields):
    raw = json.dumps(fields).encode()
    read = read_item(raw, "input[0]")
    return json.loads(read.canonical if read.output is None else raw[slice(*read.output)])


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


@pytest.mark.parametrize(
    ("kind", "fields", "content"),
    [
        ("function_call", {"output": "a\nb"}, "a\nb"),
        ("function_call", {"output": [IMAGE]}, [IMAGE]),
        ("function_call", {"output": {"a": 1}}, '{"a":1}'),
        ("function_call", {"output": None}, ""),
        ("custom_tool_call", {"output": "done"}, "done"),
        ("local_shell_call", {"output": '{"exit": 0}'}, '{"exit": 0}'),
        (
            "shell_call",
            {
                "output": [
                    {"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
                    {"stdout": "", "stderr": "b", "outcome": {"type": "exit", "exit_code": 2}},
                    {"stdout": "", "stderr": "", "outcome": {"type": "timeout"}},
                ]
            },
            "a\nb\nExit code: 2\n\nTimed out\n",
        ),
        ("apply_patch_call", {"status": "failed", "output": "no such file"}, "no such file"),
        ("apply_patch_call", {"status": "completed"}, "completed"),
        (
            "computer_call",
            {"output": {"type": "computer_screenshot", "image_url": IMAGE["image_url"]}},
            [IMAGE],
        ),
        ("program", {"result": "42", "status": "completed"}, "42"),
    ],
)
def test_what_an_output_says(kind, fields, content):
    assert tool_output(type=f"{kind}_output", call_id="c", **fields) == content


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"approve": True}, "approved"),
        ({"approve": False, "reason": "too risky"}, "denied: too risky"),
    ],
)
def test_an_approval_is_an_answer(fields, content):
    assert tool_output(type="mcp_approval_response", approval_request_id="a", **fields) == content


def test_an_output_names_its_call():
    def ids(**fields):
        return read_item(json.dumps(fields).encode(), "input[0]").ids

    assert ids(type="function_call_output", call_id="c", id="fco_1", output="") == ("c",)
    assert ids(type="local_shell_call_output", id="lsh_1", output="") == ("lsh_1",)
    assert ids(type="mcp_approval_response", approval_request_id="a", id="x") == ("a",)
    assert ids(type="tool_search_output", call_id=None, tools=[]) == ()


def test_a_tool_search_loads_what_it_found():
    tools = [
        {"type": "function", "name": "add"},
        {"type": "namespace", "name": "mail", "tools": [{"type": "function", "name": "send"}]},
    ]
    fields = {"type": "tool_search_output", "call_id": "c", "tools": tools}
    assert read_item(json.dumps(fields).encode(), "input[0]").loads == {"add", "mail.send"}
    text, definitions = tool_output(**fields)
    assert text["text"] == "Tools: add, mail.send"
    assert definitions["tools"] == tools


# ------------------------------------------------------------------------------------------------
# Calls that the server ran: text of the answer.


def server_said(**fields):
    read = read_item(json.dumps(fields).encode(), "input[0]")
    return json.loads(b'"' + read.text + b'"'), [json.loads(part) for part in read.parts]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {
                "type": "web_search_call",
                "action": {
                    "type": "search",
                    "query": "old",
                    "queries": ["tallest tower"],
                    "sources": [{"type": "url", "url": "https://a.example"}],
                },
            },
            "\n[web_search] tallest tower\nhttps://a.example\n",
        ),
        (
            {
                "type": "web_search_call",
                "action": {"type": "find_in_page", "pattern": "m", "url": "https://b.example"},
            },
            "\n[web_search] m\nhttps://b.example\n",
        ),
        ({"type": "web_search_call", "action": None}, "\n[web_search] \n"),
        (
            {
                "type": "file_search_call",
                "queries": ["budget"],
                "results": [{"filename": "a.txt", "text": "It is 400.", "score": 0.5}],
            },
            "\n[file_search] budget\na.txt: It is 400.\n",
        ),
        ({"type": "file_search_call", "queries": None, "results": None}, "\n[file_search] \n"),
        (
            {
                "type": "mcp_call",
                "server_label": "git",
                "name": "log",
                "arguments": '{"n":1}',
                "output": "first",
                "error": None,
            },
            '\n[mcp_call] git.log\n{"n":1}\nfirst\n',
        ),
    ],
)
def test_what_was_asked_and_what_came_of_it(fields, text):
    assert server_said(id="x_1", status="completed", **fields) == (text, [])


def test_code_that_ran_shows_its_output_and_its_images():
    outputs = [{"type": "logs", "logs": "4"}, {"type": "image", "url": "https://i.example"}]
    text, parts = server_said(type="code_interpreter_call", code="print(4)", outputs=outputs)
    assert text == "\n[code_interpreter]\nprint(4)\n4\n"
    assert parts == [{"type": "input_image", "image_url": "https://i.example"}]


def test_a_generated_image_is_one():
    text, parts = server_said(
        type="image_generation_call", result="AAAA", output_format="webp", revised_prompt="a cat"
    )
    assert text == "\n[image_generation] a cat\n"
    assert parts == [{"type": "input_image", "image_url": "data:image/webp;base64,AAAA"}]


def test_a_list_of_tools_loads_them():
    fields = {"type": "mcp_list_tools", "server_label": "git", "tools": [{"name": "log"}]}
    text, parts = server_said(**fields)
    assert text == "\n[mcp_list_tools] git: Tools: log\n"
    assert parts == [{"type": "tool_definitions", "tools": [{"name": "log"}]}]
    assert read_item(json.dumps(fields).encode(), "input[0]").loads == {"log"}
