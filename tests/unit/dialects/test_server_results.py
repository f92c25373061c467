"""Check what is quotable of a result of a tool of the provider."""

from __future__ import annotations

import pytest

from memtree.dialects import messages_blocks

SEARCH = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "title": "Ports",
            "url": "https://example.com/ports",
            "encrypted_content": "Zm9vYmFy",
            "page_age": "2 days",
        }
    ],
}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (SEARCH["content"], ["Ports", "https://example.com/ports"]),
        (
            {
                "type": "web_fetch_result",
                "url": "https://example.com",
                "retrieved_at": "2026-01-01",
                "content": {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "A page."},
                    "title": "Page",
                },
            },
            ["https://example.com", "A page.", "Page"],
        ),
        (
            {
                "type": "web_fetch_result",
                "url": "u",
                "content": {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                },
            },
            ["u"],
        ),
        (
            {"type": "code_execution_result", "stdout": "42\n", "stderr": "", "return_code": 0},
            ["42\n"],
        ),
        (
            {"type": "encrypted_code_execution_result", "encrypted_stdout": "x", "stderr": "oh"},
            ["oh"],
        ),
        (
            {"type": "text_editor_code_execution_str_replace_result", "lines": ["-a", "+b"]},
            ["-a", "+b"],
        ),
        ([{"type": "text", "text": "of an MCP server"}], ["of an MCP server"]),
        ("plain", ["plain"]),
        (
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            ["max_uses_exceeded"],
        ),
        (None, []),
        ([None, 3, {"type": "web_search_result", "title": 5}], []),
    ],
)
def test_titles_addresses_and_texts_are_told_in_order(content, said):
    assert messages_blocks.readable_texts({"content": content}) == said


def test_encrypted_fields_are_only_counted():
    assert messages_blocks.encrypted_strings(SEARCH) == ["Zm9vYmFy"]
    assert "Zm9vYmFy" not in messages_blocks.readable_texts(SEARCH)


def test_the_tools_that_a_result_loads_are_named():
    result = {
        "type": "tool_search_tool_result",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [
                {"type": "tool_reference", "tool_name": "WebFetch"},
                {"type": "tool_reference", "tool_name": 3},
                {"type": "other", "tool_name": "No"},
            ],
        },
    }
    assert messages_blocks.loaded_tools(result) == {"WebFetch"}
    assert messages_blocks.loaded_tools(SEARCH) == frozenset()
