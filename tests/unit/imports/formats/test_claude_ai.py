"""The export of claude.ai: the branch shown last, with calls and their results."""

from __future__ import annotations

from typing import Any

from memtree_proxy.imports import claude_ai
from memtree_proxy.imports.conversation import Conversation
from tests.foreign import Fields, claude_ai_conversation, text, user


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
