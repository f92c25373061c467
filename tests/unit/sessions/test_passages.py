"""Passages of a session: what is cut how, and which part of one is quoted."""

from __future__ import annotations

from typing import Any

from memtree.text import terms
from memtree_proxy.sessions.session_passages import (
    CUT,
    MAX_PASSAGES,
    MEANT,
    PASSAGE_CHARS,
    QUOTE_CHARS,
    passages,
    quotation,
)

SECRET = "sk-ant-" + "a1B2c3" * 6


def call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function}],
    }


def result(id_: str, printed: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": printed}


def test_a_thought_is_no_passage():
    text = "<think>\n51? No.\n</think>\n\nThe limit is 521."
    rows = [{"role": role, "content": text} for role in ("assistant", "user")]
    assert [each.text.strip() for each in passages(rows)] == ["The limit is 521.", text]


def test_what_is_said_is_meant_and_what_tools_print_is_not():
    found = passages(
        [
            {"role": "user", "content": "Why does it fail?"},
            call("c1", "bash", '{"command":"make\\ntest"}'),
            result("c1", "1 failed"),
        ]
    )
    assert [(each.message, each.role, each.text, each.meant) for each in found] == [
        (0, "user", "Why does it fail?", True),
        (1, "assistant", 'bash {"command":"make\ntest"}', False),
        (2, "tool", "1 failed", False),
    ]


def test_long_texts_are_cut_and_only_their_beginning_is_embedded():
    said = "\n\n".join(f"Paragraph {n} " + "word " * 40 for n in range(40))
    found = passages([{"role": "user", "content": said}])
    assert max(len(each.text) for each in found) <= PASSAGE_CHARS
    assert "".join(each.text for each in found) == said
    assert [each.meant for each in found].count(True) == MEANT


def test_a_session_without_end_is_bounded():
    found = passages([{"role": "user", "content": f"n{n}"} for n in range(MAX_PASSAGES + 5)])
    assert len(found) == MAX_PASSAGES
    assert found[0].message == 5


def test_what_programs_put_into_messages_is_no_passage():
    reminder = "<system-reminder>The time is now.</system-reminder>"
    found = passages([{"role": "user", "content": f"Go on.{reminder}"}])
    assert [each.text for each in found] == ["Go on."]


def test_answers_of_our_own_tool_are_no_passages():
    name = "mcp__memtree__search_sessions"
    assert passages([call("c1", name, '{"query":"x"}'), result("c1", "an old quotation")]) == []


def test_a_secret_is_masked_before_it_is_cut():
    said = "word " * 98 + f"key {SECRET} behind"
    text = "".join(each.text for each in passages([{"role": "user", "content": said}]))
    assert "[secret]" in text
    assert SECRET[:20] not in text
    assert SECRET[-12:] not in text


def test_the_quotation_is_where_the_words_are():
    printed = "\n".join(f"line {n} of the log" for n in range(200)).replace("line 99", "quota 99")
    shown = quotation(passages([result("c1", printed)]), 0, terms.terms("quota"))
    assert "quota 99" in shown
    assert shown.startswith(CUT)
    assert shown.endswith(CUT)
    assert len(shown) <= QUOTE_CHARS + 2 * len(f"{CUT} ")


def test_a_cut_is_shown_where_the_message_goes_on():
    said = "\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(4))
    found = passages([{"role": "user", "content": said}, {"role": "user", "content": "Next."}])
    shown = [quotation(found, at, {}) for at in range(len(found))]
    assert not shown[0].startswith(CUT)
    assert shown[0].endswith(CUT)
    assert shown[1].startswith(CUT)
    assert not shown[-2].endswith(CUT)
    assert shown[-1] == "Next."
