"""Sessions of Codex: what is imported has the address of what Codex sends when it goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree.dialects.openai_responses.input_item import ItemCache
from memtree.dialects.openai_responses.responses_history import read as read_request
from memtree.errors import BadRequest
from memtree.wire import json_body
from memtree_proxy.imports import recognise
from memtree_proxy.imports.conversation import Conversation, raw_message
from memtree_proxy.imports.posted_file import posted_file

Fields = dict[str, Any]
SESSION = "01a205db-d4d1-7f70-8baf-ee81250a48ed"


def message(role: str, text: str, id_: str = "m") -> Fields:
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": "message",
        "id": f"msg_{id_}",
        "role": role,
        "content": [{"type": kind, "text": text}],
    }


def reasoning(id_: str) -> Fields:
    summary = [{"type": "summary_text", "text": "It is the next one."}]
    return {"type": "reasoning", "id": f"rs_{id_}", "summary": summary, "encrypted_content": "gA"}


def call(id_: str, command: str = "ls") -> Fields:
    arguments = json.dumps({"cmd": command})
    name = "exec_command"
    return {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name,
            "arguments": arguments}  # fmt: skip


def patch(id_: str) -> Fields:
    text = "*** Begin Patch\n*** End Patch"
    return {"type": "custom_tool_call", "call_id": id_, "name": "apply_patch", "input": text}


def output(id_: str, text: str, kind: str = "function_call_output") -> Fields:
    return {"type": kind, "call_id": id_, "output": text}


CONTEXT = message("user", "<environment_context>\n  <cwd>/home/u</cwd>\n</environment_context>")
ASKED = message("user", "Count the words of every part.")
ITEMS = [
    message("developer", "<skills_instructions>\n## Skills\n</skills_instructions>"),
    CONTEXT,
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


def line(kind: str, payload: Fields) -> Fields:
    return {"timestamp": "2026-11-23T00:43:42.686Z", "type": kind, "payload": payload}


def file_of(items: list[Fields], *more: Fields) -> bytes:
    """Write a file as Codex does, with its own remarks between the items."""
    lines = [line("session_meta", {"id": SESSION, "cwd": "/home/u", "cli_version": "0.169.0"})]
    lines.append(line("event_msg", {"type": "task_started", "turn_id": "t"}))
    for item in items:
        lines.append(line("response_item", item))
        lines.append(line("event_msg", {"type": "token_count", "info": None}))
    lines.append(line("turn_context", {"model": "gpt-5.5"}))
    return b"\n".join(json.dumps(one).encode() for one in (*lines, *more))


def imported(data: bytes, whole: bool = False) -> Conversation:
    (found,) = recognise.conversations(posted_file(data, "rollout-x.jsonl"), None, whole)
    return found


def address(messages: list[bytes]) -> tuple[bytes, ...]:
    return history.read("t", [Message(raw) for raw in messages], Volatile()).addresses


def of_file(found: Conversation) -> tuple[bytes, ...]:
    return address([raw_message(one) for one in found.messages])


def of_request(items: list[Fields]) -> tuple[bytes, ...]:
    body = json.dumps({"model": "gpt-5.5", "input": items}).encode()
    read = read_request(json_body.split(body), "t", ItemCache(1))
    return address([one.raw for one in read.messages])


def test_the_first_live_request_finds_what_was_imported() -> None:
    found = imported(file_of(ITEMS))
    assert of_file(found) == of_request([INSTRUCTIONS, *ITEMS])
    assert (found.format, found.id, found.date) == ("codex", SESSION, "2026-11-23T00:43Z")
    assert found.title == "Count the words of every part."
    assert found.dropped == 0


def test_a_request_that_goes_on_begins_with_it() -> None:
    known = of_file(imported(file_of(ITEMS)))
    more = [message("assistant", "Done."), message("user", "Thanks.")]
    assert of_request([INSTRUCTIONS, *ITEMS, *more])[: len(known)] == known


def test_a_compaction_takes_the_place_of_all_before_it() -> None:
    summary = message("user", "Another language model started to solve this problem.", "s")
    newer = [ITEMS[0], CONTEXT, ASKED, summary]
    compacted = line("compacted", {"message": "summary", "replacement_history": newer})
    after = message("user", "Go on.")
    data = file_of(ITEMS, compacted, line("response_item", after))
    found = imported(data)
    assert of_file(found) == of_request([INSTRUCTIONS, *newer, after])
    assert found.dropped == len(ITEMS) - len(newer)
    whole = imported(data, whole=True)
    assert of_file(whole)[: len(of_file(imported(file_of(ITEMS))))] == of_file(
        imported(file_of(ITEMS))
    )
    assert whole.dropped == 0


OPAQUE, OLDER = {"type": "compaction", "encrypted_content": "gAAA"}, "compaction_summary"
LATER = [message("user", "Go on.", "g"), message("assistant", "Yes.", "y")]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([line("compacted", {"message": "", "replacement_history": [CONTEXT, ASKED, OPAQUE]})],
         [CONTEXT, ASKED]),
        ([line("compacted", {"replacement_history": [ASKED, {**OPAQUE, "type": OLDER}]})], [ASKED]),
        ([line("response_item", OPAQUE)], ITEMS),
    ],
    ids=range(3),
)  # fmt: skip
def test_what_stands_before_an_opaque_summary_is_kept(
    lines: list[Fields], kept: list[Fields]
) -> None:
    later = [line("response_item", item) for item in LATER]
    found = imported(file_of(ITEMS, *lines, *later))
    before, after = found.messages[: found.sealed], found.messages[found.sealed :]
    assert address(list(map(raw_message, before))) == of_request(kept)
    live = of_request([INSTRUCTIONS, *kept, OPAQUE, *LATER])
    assert address(list(map(raw_message, after))) == live
    whole = imported(file_of(ITEMS, *lines, *later), whole=True)
    assert of_file(whole) == of_request([*ITEMS, *LATER])


def test_older_compactions_keep_the_requests_before_their_summary() -> None:
    summary = {"type": "message", "role": "user", "content": "The parts were counted."}
    compacted = line("compacted", {"message": summary["content"]})
    again = line("compacted", {"message": "All is done."})
    later = [line("response_item", item) for item in LATER]
    requests = [ASKED, ITEMS[-1]]
    found = imported(file_of(ITEMS, compacted, *later))
    assert of_file(found) == of_request([*requests, summary, *LATER])
    assert (found.sealed, found.dropped) == (0, len(ITEMS) - len(requests))
    twice = imported(file_of(ITEMS, compacted, *later, again))
    second = {**summary, "content": "All is done."}
    assert of_file(twice) == of_request([*requests, LATER[0], second])
    assert of_file(imported(file_of(ITEMS, compacted), whole=True)) == of_request(ITEMS)


def test_turns_that_were_rolled_back_are_gone() -> None:
    back = line("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    assert of_file(imported(file_of(ITEMS, back))) == of_request(ITEMS[:-1])
    every = line("event_msg", {"type": "thread_rolled_back", "num_turns": 99})
    kept = imported(file_of(ITEMS, every, line("response_item", ASKED)))
    assert of_file(kept) == of_request([CONTEXT, ASKED])


def test_the_thread_has_the_name_that_its_user_gave() -> None:
    named = line("event_msg", {"type": "thread_name_updated", "thread_name": "Words"})
    assert imported(file_of(ITEMS, named)).title == "Words"


def test_calls_and_outputs_are_paired_as_codex_does() -> None:
    broken = [ASKED, output("gone", "lost"), call("a"), call("b"), output("b", "two")]
    repaired = [ASKED, call("a"), output("a", "aborted"), call("b"), output("b", "two")]
    assert of_file(imported(file_of(broken))) == of_request(repaired)


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
def test_what_no_request_can_have_held_is_left_out(item: Fields) -> None:
    assert of_file(imported(file_of([*ITEMS, item]))) == of_request(ITEMS)


def test_a_call_stands_once_and_is_answered_once() -> None:
    twice = [ASKED, call("a"), output("a", "1"), call("a"), output("a", "2")]
    assert of_file(imported(file_of(twice))) == of_request(twice[:3])


def test_other_lines_are_no_session_of_codex() -> None:
    data = b'{"session_id":"s","ts":1,"text":"hello"}\n{"session_id":"s","ts":2,"text":"you"}'
    with pytest.raises(BadRequest, match="codex"):
        list(recognise.conversations(posted_file(data, "history.jsonl")))
