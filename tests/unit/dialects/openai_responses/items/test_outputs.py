"""Outputs of calls, as content of a tool message."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.openai_responses.input_item import read_item


def output(**fields):
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
    assert output(type=f"{kind}_output", call_id="c", **fields) == content


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"approve": True}, "approved"),
        ({"approve": False, "reason": "too risky"}, "denied: too risky"),
    ],
)
def test_an_approval_is_an_answer(fields, content):
    assert output(type="mcp_approval_response", approval_request_id="a", **fields) == content


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
    text, definitions = output(**fields)
    assert text["text"] == "Tools: add, mail.send"
    assert definitions["tools"] == tools
