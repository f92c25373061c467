"""Sessions of Claude Code and Codex, and the export of claude.ai."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.dialects.messages_history import read as read_request
from memtree.dialects.messages_request import Cache
from memtree.dialects.responses_history import read as codex_read_request
from memtree.dialects.responses_items import ItemCache
from memtree.errors import BadRequest
from memtree.history import chat_history, json_body
from memtree.history.message import Message, Volatile
from memtree_proxy.imports import claude_ai, claude_code, recognise
from memtree_proxy.imports.conversation import Conversation, raw_message
from memtree_proxy.imports.posted_file import posted_file
from tests.foreign import (
    Fields,
    claude_ai_conversation,
    claude_line,
    picture,
    result,
    text,
    use,
    user,
)

# ------------------------------------------------------------------------------------------------
# Sessions of Claude Code: what is imported has the address of what it sends when it goes on.


VERSION = {"version": "2.1.330"}
CONTEXT = "<system-reminder>\n# currentDate\nToday's date is 2026-11-23.\n</system-reminder>"
THOUGHT = {"type": "thinking", "thinking": "It is the next one.", "signature": "s1g"}


def imported(*lines: Fields) -> Conversation:
    return claude_code.read(lines, "file", False)


def of_file(found: Conversation) -> tuple[bytes, ...]:
    read = [Message(raw_message(one)) for one in found.messages]
    return chat_history.read("t", read, Volatile()).addresses


def of_request(*messages: tuple[str, Any]) -> tuple[bytes, ...]:
    """Return the messages of a live request, with a system prompt as the program sends it."""
    said = [{"role": role, "content": content} for role, content in messages]
    body = {"model": "claude-opus-5-5", "system": [text("You are Claude Code.")], "messages": said}
    read = read_request(json_body.split(json.dumps(body).encode()), "t", Cache(1))
    return chat_history.read("t", list(read.messages), Volatile()).addresses


def blob(content: list[Fields], role: str = "user", hash_: str = "h") -> Fields:
    return {
        "type": "api-request-blob",
        "hash": hash_,
        "message": {"role": role, "content": content},
    }


def session(*more: Fields) -> list[Fields]:
    """Two rounds; the results of the first come in another order than its calls."""
    return [
        claude_line("u1", None, "user", "Read both parts.", **VERSION),
        *more,
        claude_line("a1", "u1", "assistant", [THOUGHT], message_id="m", **VERSION),
        claude_line("a2", "a1", "assistant", [text("I read them.")], message_id="m", **VERSION),
        claude_line("a3", "a2", "assistant", [use("x", "Read", {"p": "one"})], message_id="m"),
        claude_line("a4", "a3", "assistant", [use("y", "Read", {"p": "two"})], message_id="m"),
        claude_line("r2", "a4", "user", [result("y", "1\ttwo\n2\t")]),
        claude_line("r1", "a3", "user", [result("x", [text("one"), picture()])]),
        claude_line("a5", "r1", "assistant", [text("Both are read.")], message_id="n"),
        claude_line("u2", "a5", "user", "Go on."),
    ]


ANSWERED = (
    ("assistant", [THOUGHT, text("I read them."), use("x", "Read", {"p": "one"}),
                   use("y", "Read", {"p": "two"})]),
    ("user", [result("y", "1\ttwo\n2\t"), result("x", [text("one"), picture()])]),
    ("assistant", [text("Both are read.")]),
    ("user", "Go on."),
)  # fmt: skip


def test_the_first_live_request_finds_what_was_imported() -> None:
    first = [text(CONTEXT), text(f"{CONTEXT}\n"), text("Read both parts.")]
    lines = session(blob(first), blob([text("# Environment")], "system", "s"))
    found = imported(*lines)
    environment = ("system", [text("# Environment")])
    assert of_file(found) == of_request(("user", first), environment, *ANSWERED)
    assert found.title == "Read both parts."


def test_a_message_that_was_changed_is_taken_as_it_was_sent() -> None:
    first = [text(f"{CONTEXT}\n"), text("Read both parts.")]
    told = f"1\ttwo\n2\n\n{CONTEXT}"
    sent = [result("y", told), result("x", [text("one"), picture()])]
    last = [text(f"{CONTEXT}\n"), text("Go on.")]
    lines = session(blob(first), blob(sent, hash_="r"), blob(last, hash_="l"))
    live = of_request(("user", first), ANSWERED[0], ("user", sent), ANSWERED[2], ("user", last))
    assert of_file(imported(*lines)) == live


def test_what_the_user_says_in_a_row_is_one_message() -> None:
    found = imported(
        claude_line("u1", None, "user", "One."),
        claude_line("u2", "u1", "user", [text("[Request interrupted by user]")]),
        claude_line("u3", "u2", "user", "Two."),
    )
    said = [text("One.\n"), text("[Request interrupted by user]\n"), text("Two.")]
    assert of_file(found) == of_request(("user", said))
    assert len(found.messages) == 1


def test_one_message_that_was_sent_stands_for_one() -> None:
    sent = blob([text(f"{CONTEXT}\n"), text("again")])
    lines = [
        claude_line("u1", None, "user", "again"),
        claude_line("a1", "u1", "assistant", "yes"),
        claude_line("u2", "a1", "user", "again"),
    ]
    first, _, second = imported(sent, *lines).messages
    assert (len(first["content"]), len(second["content"])) == (2, 1)


# ---------------------------------------------------------------- compactions and lost lines


def boundary(uuid: str = "cb", last: str = "n6", **told: Any) -> Fields:
    return {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": None,
            "logicalParentUuid": last, "compactMetadata": {"trigger": "auto", **told}}  # fmt: skip


def chain(*names: str, first: str | None = None) -> list[Fields]:
    """Lines that answer each other, whose text is their name."""
    parents = (first, *names)
    roles = ("user", "assistant")
    return [
        claude_line(name, parents[at], roles[int(name[1:]) % 2], name)
        for at, name in enumerate(names)
    ]


KEPT: Fields = {"preservedMessages": {"anchorUuid": "cs", "uuids": ["n4", "n5", "n6"]}}
FIRST: Fields = {"anchorUuid": "cb", "uuids": ["n1", "n2"]}
SEGMENT: Fields = {"preservedSegment": {"headUuid": "n4", "anchorUuid": "cs", "tailUuid": "n6"}}
BEFORE = chain("n1", "n2", "n3", "n4", "n5", "n6")
SUMMARY = claude_line("cs", "cb", "user", "Summary", isCompactSummary=True)
AFTER = chain("n40", "n41", first="n6")
LATER = ["Summary", "n4", "n5", "n6", "n40", "n41"]


def said(lines: list[Fields], whole: bool = False) -> list[str]:
    found = claude_code.read(lines, "file", whole)
    parts = [content if isinstance(content := one["content"], list) else [text(content)]
             for one in found.messages]  # fmt: skip
    return [part["text"].strip() for message in parts for part in message]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([*BEFORE, boundary(**KEPT), SUMMARY, *AFTER], LATER),
        ([*BEFORE, boundary(**SEGMENT), SUMMARY, *AFTER], LATER),
        ([*BEFORE, boundary(**KEPT), SUMMARY], LATER[:4]),
        # Kept messages are written again behind the summary.
        ([*BEFORE, boundary(**KEPT), SUMMARY, *chain("n4", "n5", "n6", first="cs"), *AFTER], LATER),
        ([*BEFORE[:-1], boundary(**KEPT), SUMMARY, *chain("n6", first="cs"), *AFTER], LATER),
        # What follows the summary in the file follows what is kept.
        ([*BEFORE, boundary(**KEPT), SUMMARY, *chain("n40", "n41", first="cs")], LATER),
        # The first messages are kept, and the summary stands behind them.
        ([*BEFORE, boundary(preservedMessages=FIRST), SUMMARY], ["n1", "n2", "Summary"]),
        # A line was lost: one that is kept, the summary, or the compaction.
        ([*BEFORE[:4], BEFORE[5], boundary(**KEPT), SUMMARY, *AFTER], [*LATER[:2], *LATER[3:]]),
        ([*BEFORE, boundary(**KEPT), *AFTER], LATER[1:]),
        ([*BEFORE, SUMMARY, *AFTER], ["n1", "n2", "n3", "n4", "n5", "n6", "n40", "n41"]),
        # An older compaction that kept messages lies behind a newer one.
        ([*BEFORE, boundary(**KEPT), SUMMARY, *AFTER, boundary("c2", "n41"),
          claude_line("s2", "c2", "user", "Second"), *chain("n51", first="s2")], ["Second", "n51"]),
    ],
    ids=range(11),
)  # fmt: skip
def test_kept_messages_follow_the_summary(lines: list[Fields], expected: list[str]) -> None:
    assert said(lines) == expected
    everything = said(lines, whole=True)
    names = {line["uuid"] for line in lines if line["type"] != "system"} - {"cs", "s2"}
    assert sorted(set(everything) - {"Summary", "Second"}) == sorted(names)
    assert len(everything) == len(set(everything))


@pytest.mark.parametrize("lost", range(6))
def test_a_lost_line_costs_itself_and_is_told(lost: int) -> None:
    lines = [*chain("n1", "n2", "n3", "n4", "n5", "n6", "n7"), *chain("s1", "s2", first="n2")]
    for line in lines[7:]:
        line["isSidechain"] = True
    lines[1:1] = lines[7:]  # work of other agents is written between
    gone = lines.pop(lines.index(next(line for line in lines if line["uuid"] == f"n{lost + 1}")))
    found = claude_code.read(lines, "file", False)
    assert said(lines) == [
        name for at, name in enumerate("n1 n2 n3 n4 n5 n6 n7".split()) if at != lost
    ]
    told = "the pieces are joined in the file's order" if lost else "what stood before is lost"
    assert found.notes == (f"1 message names a parent outside of the file; {told}",)
    assert gone["uuid"] not in str(found)


def test_what_a_lost_line_stood_between_is_not_joined() -> None:
    one, _, three = chain("n2", "n3", "n4")
    found = claude_code.read([one, three], "file", False)
    assert [one["role"] for one in found.messages] == ["user", "user"]
    assert said([one, three]) == ["n2", "n4"]
    answered = claude_line("n4", "n3", "user", [result("lost", "the result"), text("and more")])
    assert said([one, answered]) == ["n2", "[tool result]\nthe result", "and more"]


def test_lines_in_another_order_and_twice_are_one_conversation() -> None:
    one, two, three, four = chain("n1", "n2", "n3", "n4")
    for lines in (
        [one, two, four, three],
        [four, three, two, one],
        [one, two, two, three, four, one],
    ):
        assert said(lines) == ["n1", "n2", "n3", "n4"]


# ------------------------------------------------------------------------------------------------
# Sessions of Codex: what is imported has the address of what Codex sends when it goes on.


CodexFields = dict[str, Any]
SESSION = "01a205db-d4d1-7f70-8baf-ee81250a48ed"


def message(role: str, text: str, id_: str = "m") -> CodexFields:
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": "message",
        "id": f"msg_{id_}",
        "role": role,
        "content": [{"type": kind, "text": text}],
    }


def reasoning(id_: str) -> CodexFields:
    summary = [{"type": "summary_text", "text": "It is the next one."}]
    return {"type": "reasoning", "id": f"rs_{id_}", "summary": summary, "encrypted_content": "gA"}


def call(id_: str, command: str = "ls") -> CodexFields:
    arguments = json.dumps({"cmd": command})
    name = "exec_command"
    return {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name,
            "arguments": arguments}  # fmt: skip


def patch(id_: str) -> CodexFields:
    text = "*** Begin Patch\n*** End Patch"
    return {"type": "custom_tool_call", "call_id": id_, "name": "apply_patch", "input": text}


def output(id_: str, text: str, kind: str = "function_call_output") -> CodexFields:
    return {"type": kind, "call_id": id_, "output": text}


SEEN = message("user", "<environment_context>\n  <cwd>/home/u</cwd>\n</environment_context>")
ASKED = message("user", "Count the words of every part.")
ITEMS = [
    message("developer", "<skills_instructions>\n## Skills\n</skills_instructions>"),
    SEEN,
    ASKED,
    reasoning("1"),
    message("assistant", "I read two parts."),
    call("a", "cat one"),
    call("b", "cat two"),
    output("b", "Chunk ID: 1\nOutput:\ntwo"),
    output("a", "Chunk ID: 2\nOutput:\none"),
    patch("p"),
    output("p", "Success.", "custom_tool_call_output"),
    message("assistant", "Both are counted."),
    message("user", "Now the third."),
]
INSTRUCTIONS = message("developer", "You are Codex, a coding agent.")


def line(kind: str, payload: CodexFields) -> CodexFields:
    return {"timestamp": "2026-11-23T00:43:42.686Z", "type": kind, "payload": payload}


def file_of(items: list[CodexFields], *more: CodexFields) -> bytes:
    """Write a file as Codex does, with its own remarks between the items."""
    lines = [line("session_meta", {"id": SESSION, "cwd": "/home/u", "cli_version": "0.169.0"})]
    lines.append(line("event_msg", {"type": "task_started", "turn_id": "t"}))
    for item in items:
        lines.append(line("response_item", item))
        lines.append(line("event_msg", {"type": "token_count", "info": None}))
    lines.append(line("turn_context", {"model": "gpt-5.5"}))
    return b"\n".join(json.dumps(one).encode() for one in (*lines, *more))


def codex_imported(data: bytes, whole: bool = False) -> Conversation:
    (found,) = recognise.conversations(posted_file(data, "rollout-x.jsonl"), None, whole)
    return found


def address(messages: list[bytes]) -> tuple[bytes, ...]:
    return chat_history.read("t", [Message(raw) for raw in messages], Volatile()).addresses


def codex_of_file(found: Conversation) -> tuple[bytes, ...]:
    return address([raw_message(one) for one in found.messages])


def codex_of_request(items: list[CodexFields]) -> tuple[bytes, ...]:
    body = json.dumps({"model": "gpt-5.5", "input": items}).encode()
    read = codex_read_request(json_body.split(body), "t", ItemCache(1))
    return address([one.raw for one in read.messages])


def test_the_first_live_request_finds_what_was_imported_of_codex() -> None:
    found = codex_imported(file_of(ITEMS))
    assert codex_of_file(found) == codex_of_request([INSTRUCTIONS, *ITEMS])
    assert (found.format, found.id, found.date) == ("codex", SESSION, "2026-11-23T00:43Z")
    assert found.title == "Count the words of every part."
    assert found.dropped == 0


def test_a_request_that_goes_on_begins_with_it() -> None:
    known = codex_of_file(codex_imported(file_of(ITEMS)))
    more = [message("assistant", "Done."), message("user", "Thanks.")]
    assert codex_of_request([INSTRUCTIONS, *ITEMS, *more])[: len(known)] == known


def test_a_compaction_takes_the_place_of_all_before_it() -> None:
    summary = message("user", "Another language model started to solve this problem.", "s")
    newer = [ITEMS[0], SEEN, ASKED, summary]
    compacted = line("compacted", {"message": "summary", "replacement_history": newer})
    after = message("user", "Go on.")
    data = file_of(ITEMS, compacted, line("response_item", after))
    found = codex_imported(data)
    assert codex_of_file(found) == codex_of_request([INSTRUCTIONS, *newer, after])
    assert found.dropped == len(ITEMS) - len(newer)
    whole = codex_imported(data, whole=True)
    assert codex_of_file(whole)[
        : len(codex_of_file(codex_imported(file_of(ITEMS))))
    ] == codex_of_file(codex_imported(file_of(ITEMS)))
    assert whole.dropped == 0


OPAQUE, OLDER = {"type": "compaction", "encrypted_content": "gAAA"}, "compaction_summary"
CODEX_LATER = [message("user", "Go on.", "g"), message("assistant", "Yes.", "y")]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([line("compacted", {"message": "", "replacement_history": [SEEN, ASKED, OPAQUE]})],
         [SEEN, ASKED]),
        ([line("compacted", {"replacement_history": [ASKED, {**OPAQUE, "type": OLDER}]})], [ASKED]),
        ([line("response_item", OPAQUE)], ITEMS),
    ],
    ids=range(3),
)  # fmt: skip
def test_what_stands_before_an_opaque_summary_is_kept(
    lines: list[CodexFields], kept: list[CodexFields]
) -> None:
    later = [line("response_item", item) for item in CODEX_LATER]
    found = codex_imported(file_of(ITEMS, *lines, *later))
    before, after = found.messages[: found.sealed], found.messages[found.sealed :]
    assert address(list(map(raw_message, before))) == codex_of_request(kept)
    live = codex_of_request([INSTRUCTIONS, *kept, OPAQUE, *CODEX_LATER])
    assert address(list(map(raw_message, after))) == live
    whole = codex_imported(file_of(ITEMS, *lines, *later), whole=True)
    assert codex_of_file(whole) == codex_of_request([*ITEMS, *CODEX_LATER])


def test_older_compactions_keep_the_requests_before_their_summary() -> None:
    summary = {"type": "message", "role": "user", "content": "The parts were counted."}
    compacted = line("compacted", {"message": summary["content"]})
    again = line("compacted", {"message": "All is done."})
    later = [line("response_item", item) for item in CODEX_LATER]
    requests = [ASKED, ITEMS[-1]]
    found = codex_imported(file_of(ITEMS, compacted, *later))
    assert codex_of_file(found) == codex_of_request([*requests, summary, *CODEX_LATER])
    assert (found.sealed, found.dropped) == (0, len(ITEMS) - len(requests))
    twice = codex_imported(file_of(ITEMS, compacted, *later, again))
    second = {**summary, "content": "All is done."}
    assert codex_of_file(twice) == codex_of_request([*requests, CODEX_LATER[0], second])
    assert codex_of_file(codex_imported(file_of(ITEMS, compacted), whole=True)) == codex_of_request(
        ITEMS
    )


def test_turns_that_were_rolled_back_are_gone() -> None:
    back = line("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    assert codex_of_file(codex_imported(file_of(ITEMS, back))) == codex_of_request(ITEMS[:-1])
    every = line("event_msg", {"type": "thread_rolled_back", "num_turns": 99})
    kept = codex_imported(file_of(ITEMS, every, line("response_item", ASKED)))
    assert codex_of_file(kept) == codex_of_request([SEEN, ASKED])


def test_the_thread_has_the_name_that_its_user_gave() -> None:
    named = line("event_msg", {"type": "thread_name_updated", "thread_name": "Words"})
    assert codex_imported(file_of(ITEMS, named)).title == "Words"


def test_calls_and_outputs_are_paired_as_codex_does() -> None:
    broken = [ASKED, output("gone", "lost"), call("a"), call("b"), output("b", "two")]
    repaired = [ASKED, call("a"), output("a", "aborted"), call("b"), output("b", "two")]
    assert codex_of_file(codex_imported(file_of(broken))) == codex_of_request(repaired)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "message", "role": "tool", "content": "x"},
        {"type": 7},
        {},
        {"type": "ghost_snapshot", "ghost_commit": {}},
        {"type": "item_reference", "id": "msg_1"},
    ],
)
def test_what_no_request_can_have_held_is_left_out(item: CodexFields) -> None:
    assert codex_of_file(codex_imported(file_of([*ITEMS, item]))) == codex_of_request(ITEMS)


def test_a_call_stands_once_and_is_answered_once() -> None:
    twice = [ASKED, call("a"), output("a", "1"), call("a"), output("a", "2")]
    assert codex_of_file(codex_imported(file_of(twice))) == codex_of_request(twice[:3])


def test_other_lines_are_no_session_of_codex() -> None:
    data = b'{"session_id":"s","ts":1,"text":"hello"}\n{"session_id":"s","ts":2,"text":"you"}'
    with pytest.raises(BadRequest, match="codex"):
        list(recognise.conversations(posted_file(data, "history.jsonl")))


# ------------------------------------------------------------------------------------------------
# The export of claude.ai: the branch shown last, with calls and their results.


def read(data: Any) -> list[Conversation]:
    return list(claude_ai.read("x", data))


def test_the_branch_shown_last_is_read_with_files_and_tools() -> None:
    stored = claude_ai_conversation()
    (found,) = read([stored])
    asked, called, result, answered, thanks = found.messages
    assert asked == user(text("[file: bed.png]"), text("How deep for tulips?"))
    (call,) = called["tool_calls"]
    assert (called["content"], call["function"]["name"]) == ("I look.", "web_search")
    assert result == {"role": "tool", "tool_call_id": call["id"], "content": "15 cm"}
    assert (answered["content"], thanks) == ("15 cm.", user(text("Thanks")))
    assert (found.id, found.title, found.date) == ("u1", "Garden", "2026-05-01T10:02Z")
    assert found.notes == ()
    (other,) = read({**stored, "current_leaf_message_uuid": "m2"})
    parts = [text("[file: notes.txt]\nClay."), text("[file: bed.png]"), text("How deep?")]
    assert list(other.messages) == [user(*parts), {"role": "assistant", "content": "Ten."}]


def test_messages_without_parents_are_read_in_their_order() -> None:
    def message(sender: str, said: str, **more: Any) -> Fields:
        return {"sender": sender, "text": said, **more}

    said = [message("human", "One"), message("assistant", "Two"), message("tool", "no"), 5,
            message("human", " "), message("human", "Three")]  # fmt: skip
    (found,) = read({"chat_messages": said})
    assert [message["content"] for message in found.messages] == [
        [text("One")], "Two", [text("Three")],
    ]  # fmt: skip


def test_a_missing_parent_joins_what_stands_before_it() -> None:
    stored = claude_ai_conversation()
    del stored["chat_messages"][3]
    (found,) = read([stored, {"uuid": "no conversation"}])
    assert [message["role"] for message in found.messages] == ["user", "user"]
    assert found.notes[0].startswith("1 message names a parent outside of the file")
