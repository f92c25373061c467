"""Items of the Responses API in any order: whatever clients send."""

from __future__ import annotations

from hypothesis import strategies as st

_names = st.sampled_from(["1", "2", "3"])
items_of_all_kinds = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=9)),
    st.builds(lambda text: {"role": "assistant", "content": text}, st.text(max_size=9)),
    st.builds(lambda n: {"type": "function_call", "name": "a", "call_id": n}, _names),
    st.builds(lambda n: {"type": "function_call_output", "call_id": n, "output": "x"}, _names),
    st.builds(lambda n: {"type": "program_output", "call_id": n, "result": "x"}, _names),
    st.sampled_from(
        [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "d"}],
            },
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "reasoning", "encrypted_content": "gAAAA"},
            {"type": "compaction", "encrypted_content": "x"},
            {"type": "additional_tools", "role": "developer", "tools": [{"name": "a"}]},
            {"type": "web_search_call", "action": {"query": "q"}},
            {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "a"}]},
            {"type": "tool_search_call", "call_id": None, "arguments": {}},
            {"type": "tool_search_output", "call_id": None, "tools": [{"name": "b"}]},
            {"type": "what_comes_next", "text": "t"},
        ]
    ),
)


def sound(items):
    """Without the outputs that have no call before them."""
    called, found = set(), []
    for item in items:
        kind, name = item.get("type", ""), item.get("call_id")
        if kind.endswith("_call"):
            called.add(name)
        if not kind.endswith("_output") or (name in called and name):
            found.append(item)
    return found


paired_items = st.one_of(
    st.builds(lambda n: {"type": "function_call", "name": "a", "call_id": n, "id": n}, _names),
    st.builds(lambda n: {"type": "local_shell_call", "call_id": n, "id": f"{n}0"}, _names),
    st.builds(lambda n: {"type": "function_call_output", "call_id": n, "output": "x"}, _names),
    st.builds(lambda n: {"type": "shell_output", "call_id": f"{n}0", "output": "x"}, _names),
    st.sampled_from(
        [
            {"role": "user", "content": "u"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "tool_search_call", "call_id": None, "arguments": {}},
            {"type": "tool_search_output", "call_id": None, "tools": [{"name": "b"}]},
        ]
    ),
)
