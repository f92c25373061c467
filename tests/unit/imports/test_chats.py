"""Chats: ChatGPT's tree, SillyTavern's lines, Claude Code's tree of lines; and what is cut off."""

from __future__ import annotations

from typing import Any

import pytest

from memtree_proxy.imports import chatgpt, claude_code, sillytavern
from memtree_proxy.imports.conversation import NO_RESULT, paired
from tests.foreign import (
    CLAUDE_SIMPLE,
    TAVERN_SIMPLE,
    Fields,
    assistant,
    chatgpt_conversation,
    chatgpt_node,
    claude_line,
    picture,
    result,
    tavern,
    text,
    use,
    user,
)


def spoken(messages: Any) -> list[tuple[str, Any]]:
    return [(one["role"], one["content"]) for one in messages]


# ---------------------------------------------------------------- ChatGPT


def chat(nodes: list[Fields], **fields: Any) -> Any:
    (found,) = chatgpt.read("x", [chatgpt_conversation(nodes, **fields)])
    return found


def test_the_current_branch_of_a_chat() -> None:
    found = chat(
        [
            chatgpt_node("s", "root", "system", [""]),
            chatgpt_node("1", "s", "user", ["Where to?"]),
            chatgpt_node("2", "1", "assistant", ["South."]),
            chatgpt_node("3", "1", "assistant", ["North."]),
            chatgpt_node("4", "3", "user", ["Why?"]),
        ]
    )
    assert spoken(found.messages) == [
        ("user", "Where to?"),
        ("assistant", "North."),
        ("user", "Why?"),
    ]
    assert (found.id, found.title, found.date) == ("c-1", "Trip", "2023-11-14T22:23Z")


def test_a_lost_node_costs_itself_and_marks_of_citations_go() -> None:
    cited = 'It is \ue200cite\ue202turn0search3\ue201. Or \ue200entity\ue202["a","Rome"]\ue201'
    stored = chatgpt_conversation(
        [
            chatgpt_node("1", "root", "user", ["Where to?"]),
            chatgpt_node("2", "1", "assistant", ["lost"]),
            chatgpt_node("3", "2", "user", ["Really?"]),
            chatgpt_node("4", "3", "assistant", [cited, {"content_type": "text", "text": cited}]),
        ]
    )
    assert next(chatgpt.read("x", stored)).notes == ()
    del stored["mapping"]["2"]
    (found,) = chatgpt.read("x", stored)
    assert spoken(found.messages) == [
        ("user", "Where to?"), ("user", "Really?"), ("assistant", "It is. Or Rome\nIt is. Or Rome"),
    ]  # fmt: skip
    assert len(found.notes) == 1


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_node_the_newest_children_are_followed(current: Any) -> None:
    nodes = [
        chatgpt_node("1", "root", "user", ["a"]),
        chatgpt_node("2", "1", "assistant", ["old"]),
        chatgpt_node("3", "1", "assistant", ["new"]),
    ]
    stored = chatgpt_conversation(nodes)
    stored["current_node"] = current
    (found,) = chatgpt.read("x", stored)
    assert [one["content"] for one in found.messages] == ["a", "new"]


def test_a_ring_of_nodes_has_an_end() -> None:
    stored = chatgpt_conversation([chatgpt_node("1", "root", "user", ["a"])])
    stored["mapping"]["root"]["parent"] = "1"
    (found,) = chatgpt.read("x", stored)
    assert len(found.messages) == 1


def test_what_nobody_saw_is_left_out() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
    profile = {"content_type": "user_editable_context", "user_profile": "p"}
    found = chat(
        [
            chatgpt_node("1", "root", "user", content=profile),
            chatgpt_node("2", "1", "user", ["seen"]),
            chatgpt_node("3", "2", "assistant", content=thoughts),
            chatgpt_node("4", "3", "assistant", ["unseen"], metadata=hidden),
            chatgpt_node("5", "4", "assistant", ["weightless"], weight=0),
            chatgpt_node("6", "5", "assistant", ["", "answer"]),
        ]
    )
    assert spoken(found.messages) == [("user", "seen"), ("assistant", "answer")]


def test_code_and_what_it_printed_are_a_call_and_its_answer() -> None:
    code = {"content_type": "code", "language": "python", "text": "1 + 1"}
    printed = {"content_type": "execution_output", "text": "2"}
    quoted = {"content_type": "tether_quote", "title": "News", "text": "It rained."}
    found = chat(
        [
            chatgpt_node("1", "root", "user", ["Sum?"]),
            chatgpt_node("2", "1", "assistant", content=code, recipient="python"),
            chatgpt_node("3", "2", "tool", content=printed, name="python"),
            chatgpt_node("4", "3", "assistant", ['{"q": "rain"}'], recipient="browser"),
            chatgpt_node("5", "4", "tool", content=quoted, name="browser"),
            chatgpt_node("6", "5", "tool", ["second page"], name="browser"),
            chatgpt_node("7", "6", "assistant", ["Two."]),
        ]
    )
    sums, browses = found.messages[1]["tool_calls"], found.messages[3]["tool_calls"]
    assert sums[0]["function"] == {"name": "python", "arguments": '{"input": "1 + 1"}'}
    assert browses[0]["function"] == {"name": "browser", "arguments": '{"q": "rain"}'}
    assert found.messages[2] == {"role": "tool", "tool_call_id": "2", "content": "2"}
    assert found.messages[4]["content"] == "[News]\nIt rained.\nsecond page"
    assert [one["role"] for one in found.messages] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip


def test_pictures_voice_and_files_are_named() -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "spoken words"},
        "What is this?",
    ]
    files = [{"name": "plan.pdf", "mime_type": "application/pdf"},
             {"name": "a.png", "mime_type": "image/png"}]  # fmt: skip
    content = {"content_type": "multimodal_text", "parts": parts}
    found = chat(
        [chatgpt_node("1", "root", "user", content=content, metadata={"attachments": files})]
    )
    shown = "[file: plan.pdf]\n[image]\nspoken words\nWhat is this?"
    assert spoken(found.messages) == [("user", shown)]


# ---------------------------------------------------------------- SillyTavern


def test_a_chat_of_sillytavern_begins_with_the_greeting() -> None:
    found = sillytavern.read(TAVERN_SIMPLE, "id", "Bob - 2024")
    assert spoken(found.messages) == [("assistant", "Hello, Ann."), ("user", "Hi!")]
    assert (found.title, found.date) == ("Bob - Bob - 2024", "2024-01-06T00:00Z")


def test_in_a_group_the_name_comes_first() -> None:
    lines = [tavern("Bob", "Hm."), tavern("Eve", "Ha."), tavern("Ann", "Hi.", True)]
    assert spoken(sillytavern.read(lines, "id", "x").messages) == [
        ("assistant", "Bob: Hm."),
        ("assistant", "Eve: Ha."),
        ("user", "Ann: Hi."),
    ]


def test_hidden_lines_narrators_swipes_and_tools() -> None:
    used = [{"id": "t1", "name": "dice", "parameters": '{"n":6}', "result": "4"}]
    lines = [
        tavern("Bob", "hidden", is_system=True),
        tavern("System", "It rains.", extra={"type": "narrator"}),
        {"name": "Bob", "is_user": False, "swipes": ["one", "two\r"], "swipe_id": 1},
        tavern("Bob", "", is_system=True, extra={"tool_invocations": used}),
        tavern("Bob", ""),
        {"name": "Bob", "swipes": "broken", "swipe_id": "x"},
    ]
    made = sillytavern.read(lines, "id", "x").messages
    assert spoken(made) == [
        ("system", "It rains."),
        ("assistant", "two"),
        ("assistant", None),
        ("tool", "4"),
    ]
    assert made[2]["tool_calls"][0]["function"] == {"name": "dice", "arguments": '{"n":6}'}


# ---------------------------------------------------------------- Claude Code


def claude(*lines: Fields, whole: bool = False) -> Any:
    return claude_code.read(lines, "file", whole)


def test_a_session_of_claude_code() -> None:
    found = claude(*CLAUDE_SIMPLE)
    assert spoken(found.messages) == [("user", [text("Fix it.")]), ("assistant", "Done.")]
    assert (found.id, found.title, found.date) == ("sess-1", "Fix it.", "2026-01-02T03:04Z")


def test_lines_of_one_message_are_one_and_parallel_results_are_found() -> None:
    hm = {"type": "thinking", "thinking": "hm"}
    found = claude(
        claude_line("u1", None, "user", "go"),
        claude_line("a1", "u1", "assistant", [hm], message_id="m"),
        claude_line("a2", "a1", "assistant", [text("Both.")], message_id="m"),
        claude_line("a3", "a2", "assistant", [use("x", "Read", {"p": 1})], message_id="m"),
        claude_line("r1", "a3", "user", [result("x", [text("one"), picture()])]),
        claude_line("a4", "a3", "assistant", [use("y", "Bash")], message_id="m"),
        claude_line("r2", "a4", "user", [result("y", "two"), text("by the way")]),
        claude_line("a5", "r2", "assistant", [text("Done.")], message_id="n"),
    )  # fmt: skip
    assert [one["role"] for one in found.messages] == [
        "user", "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    calls = found.messages[1]["tool_calls"]
    assert [one["id"] for one in calls] == ["x", "y"]
    assert calls[0]["function"]["arguments"] == '{"p":1}'
    parts = found.messages[2]["content"]
    assert (parts[0], parts[1]["type"]) == (text("one"), "image_url")
    assert found.messages[4]["content"] == [text("by the way")]


def test_side_chains_errors_and_dead_branches_are_left_out() -> None:
    found = claude(
        claude_line("u1", None, "user", "go"),
        claude_line("a0", "u1", "assistant", "first try"),
        claude_line("s1", None, "user", "side", isSidechain=True),
        claude_line("a1", "u1", "assistant", "second try"),
        claude_line("e1", "a1", "assistant", "API Error", isApiErrorMessage=True),
    )
    assert spoken(found.messages) == [("user", [text("go")]), ("assistant", "second try")]
    alone = claude(claude_line("s1", None, "user", "side", isSidechain=True))
    assert spoken(alone.messages) == [("user", [text("side")])]


def test_a_compaction_begins_anew_unless_all_is_wanted() -> None:
    lines = [
        claude_line("u1", None, "user", "long ago"),
        claude_line("a1", "u1", "assistant", "yes"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None,
         "logicalParentUuid": "a1"},
        claude_line("u2", "b", "user", "the summary", isCompactSummary=True),
        claude_line("a2", "u2", "assistant", "on we go"),
        {"type": "ai-title", "aiTitle": "A title"},
    ]  # fmt: skip
    found = claude(*lines)
    assert [one["role"] for one in found.messages] == ["user", "assistant"]
    assert (found.dropped, found.title) == (2, "A title")
    assert len(claude(*lines, whole=True).messages) == 4


def test_lines_whose_parents_are_missing_or_in_a_ring_have_an_end() -> None:
    alone = claude(claude_line("a", "gone", "user", "x"))
    assert (len(alone.messages), len(alone.notes)) == (1, 1)
    ring = [claude_line("a", "b", "user", "x"), claude_line("b", "a", "assistant", "y")]
    assert len(claude(*ring).messages) == 2
    assert claude({"type": "user", "uuid": "a"}).messages == ()


# ---------------------------------------------------------------- what is cut off


def answer(id_: str, content: str = "ok") -> Fields:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def calling(*ids: str) -> Fields:
    calls = [{"id": id_, "function": {"name": f"tool {id_}", "arguments": ""}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def test_calls_and_results_are_paired() -> None:
    made = paired(
        [
            answer("0", "lost call"),
            calling("a", "b", "c"),
            user("meanwhile"),
            answer("b"),
            answer("a"),
            answer("a", "again"),
            assistant("done"),
            answer("c", "too late"),
        ]
    )
    assert made == [
        user("[tool result]\nlost call"),
        calling("a", "b", "c"),
        answer("b"),
        answer("a"),
        answer("c", NO_RESULT),
        user("meanwhile"),
        user("[tool result]\nagain"),
        assistant("done"),
        user("[tool result]\ntoo late"),
    ]


def test_calls_of_one_id_have_an_answer_each() -> None:
    assert paired([calling("a", "a"), answer("a")]) == [
        calling("a", "a"),
        answer("a"),
        answer("a", NO_RESULT),
    ]
