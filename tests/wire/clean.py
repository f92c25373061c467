"""Clean requests of both APIs, of every kind that clients send: what faults are planted in."""

from __future__ import annotations

from typing import Any

from tests.wire.rule_break import Fields

MARK: Fields = {"type": "ephemeral"}
HOUR: Fields = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, **more: Any) -> Fields:
    return {"type": "text", "text": words, **more}


def call(name: str, tool: str = "Read", **given: Any) -> Fields:
    return {"type": "tool_use", "id": name, "name": tool, "input": given or {"path": "a"}}


def result(name: str, content: Any = "done", **more: Any) -> Fields:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def said(role: str, *content: Fields) -> Fields:
    return {"role": role, "content": list(content)}


def tool(name: str, **more: Any) -> Fields:
    return {"name": name, "description": "d", "input_schema": {"type": "object"}, **more}


def messages_request(**changes: Any) -> Fields:
    """Build a request as an agent sends it: reminders, a system message, thinking, two rounds of
    tools, markers."""
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 64_000,
        "stream": True,
        "thinking": {"type": "adaptive"},
        "system": [text("x-billing: 1"), text("You are an agent.", cache_control=dict(MARK))],
        "tools": [tool("Read"), tool("Bash"), tool("Later", defer_loading=True)],
        "messages": [
            said("user", text("<system-reminder>rules</system-reminder>"), text("Write it.")),
            {"role": "system", "content": "# Environment", "output_config": {"effort": "medium"}},
            said("assistant", text("On it."), call("toolu_1"), call("toolu_2", "Bash")),
            said("user", result("toolu_1"), result("toolu_2", [text("ok")], is_error=False)),
            said("assistant", call("toolu_3")),
            said("user", result("toolu_3", ""), text("And faster.")),
            said("assistant", text("Done.")),
            said("user", text("Say bye.", cache_control=dict(MARK))),
        ],
        **changes,
    }


def message(role: str, words: str, **more: Any) -> Fields:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": words}], **more}


def function_call(name: str, **more: Any) -> Fields:
    return {
        "type": "function_call", "id": f"fc_{name}", "call_id": f"call_{name}",
        "name": "shell", "arguments": '{"cmd": "ls"}', **more,
    }  # fmt: skip


def output(name: str, **more: Any) -> Fields:
    return {"type": "function_call_output", "call_id": f"call_{name}", "output": "a", **more}


def reasoning(name: str, **more: Any) -> Fields:
    return {
        "type": "reasoning", "id": f"rs_{name}", "summary": [], "content": None,
        "encrypted_content": "gAAA", **more,
    }  # fmt: skip


def responses_request(**changes: Any) -> Fields:
    """Build a request as an agent sends it: developer items, context, reasoning, calls of two
    kinds."""
    return {
        "model": "gpt-5.5",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k",
        "tools": [
            {"type": "function", "name": "shell", "description": "d", "parameters": {}},
            {"type": "custom", "name": "apply_patch", "description": "d"},
            {"type": "web_search"},
        ],
        "input": [
            message("developer", "Be brief.", id="msg_0"),
            message("user", "<environment_context>x</environment_context>", id="msg_1"),
            message("user", "List it.", id="msg_2"),
            reasoning("1"),
            message("assistant", "Looking.", id="msg_3", phase="commentary"),
            function_call("1"),
            output("1", id="fco_1"),
            reasoning("2"),
            {"type": "custom_tool_call", "id": "ctc_2", "call_id": "call_2", "name": "apply_patch",
             "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": "ok"},
            reasoning("3"),
            message("assistant", "Done.", id="msg_4", phase="final_answer"),
            message("user", "Bye.", id="msg_5"),
        ],
        **changes,
    }  # fmt: skip
