"""Calls as a chat would say them."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.openai_responses.input_item import read_item


def call(**fields):
    return json.loads(read_item(json.dumps(fields).encode(), "input[0]").call)


def test_a_function_call_is_one_of_a_chat():
    given = {"id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"path": "a"}'}
    assert call(type="function_call", status="completed", **given) == {
        "id": "call_1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path":"a"}'},
    }


def test_a_custom_call_keeps_its_text():
    assert call(type="custom_tool_call", call_id="c", name="sh", input="ls -l\n") == {
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
    found = call(id="x_1", call_id="c", status="completed", **fields)
    assert found["id"] == "c"
    assert found["function"] == {"name": name, "arguments": arguments}


def test_a_call_without_a_call_id_goes_by_its_own():
    read = read_item(b'{"type":"local_shell_call","id":"lsh_1","action":{}}', "input[0]")
    assert read.ids == ("lsh_1",)
