"""Sessions of Claude Code: what is imported has the address of what it sends when it goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree.dialects.anthropic_messages.messages_history import read as read_request
from memtree.dialects.anthropic_messages.posted_request import Cache
from memtree.wire import json_body
from memtree_proxy.imports import claude_code
from memtree_proxy.imports.conversation import Conversation, raw_message
from tests.foreign import Fields, claude_line, picture, result, text, use

VERSION = {"version": "2.1.330"}
CONTEXT = "<system-reminder>\n# currentDate\nToday's date is 2026-11-23.\n</system-reminder>"
THOUGHT = {"type": "thinking", "thinking": "It is the next one.", "signature": "s1g"}


def imported(*lines: Fields) -> Conversation:
    return claude_code.read(lines, "file", False)


def of_file(found: Conversation) -> tuple[bytes, ...]:
    read = [Message(raw_message(one)) for one in found.messages]
    return history.read("t", read, Volatile()).addresses


def of_request(*messages: tuple[str, Any]) -> tuple[bytes, ...]:
    """Return the messages of a live request, with a system prompt as the program sends it."""
    said = [{"role": role, "content": content} for role, content in messages]
    body = {"model": "claude-opus-5-5", "system": [text("You are Claude Code.")], "messages": said}
    read = read_request(json_body.split(json.dumps(body).encode()), "t", Cache(1))
    return history.read("t", list(read.messages), Volatile()).addresses


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
