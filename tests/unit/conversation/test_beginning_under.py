"""The name of the system messages before a conversation."""

from __future__ import annotations

from memtree.conversation.beginning import under
from memtree.conversation.message import Message, Volatile


def named(*said: tuple[str, str]) -> str:
    messages = [Message.of({"role": role, "content": text}) for role, text in said]
    return under("t", messages, Volatile())


def test_another_system_prompt_is_another_name():
    first, asked = ("system", "Be brief."), ("user", "Hello")
    assert named(first, asked) == named(first, ("user", "Bye")) != ""
    assert named(first, asked) != named(("system", "Be long."), asked)
    assert named(asked) == named() == ""
