"""Calls that the server ran: text of the answer."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.openai_responses.input_item import read_item


def said(**fields):
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
    assert said(id="x_1", status="completed", **fields) == (text, [])


def test_code_that_ran_shows_its_output_and_its_images():
    outputs = [{"type": "logs", "logs": "4"}, {"type": "image", "url": "https://i.example"}]
    text, parts = said(type="code_interpreter_call", code="print(4)", outputs=outputs)
    assert text == "\n[code_interpreter]\nprint(4)\n4\n"
    assert parts == [{"type": "input_image", "image_url": "https://i.example"}]


def test_a_generated_image_is_one():
    text, parts = said(
        type="image_generation_call", result="AAAA", output_format="webp", revised_prompt="a cat"
    )
    assert text == "\n[image_generation] a cat\n"
    assert parts == [{"type": "input_image", "image_url": "data:image/webp;base64,AAAA"}]


def test_a_list_of_tools_loads_them():
    fields = {"type": "mcp_list_tools", "server_label": "git", "tools": [{"name": "log"}]}
    text, parts = said(**fields)
    assert text == "\n[mcp_list_tools] git: Tools: log\n"
    assert parts == [{"type": "tool_definitions", "tools": [{"name": "log"}]}]
    assert read_item(json.dumps(fields).encode(), "input[0]").loads == {"log"}
