"""Format 2 of addresses: computed as it was, and the same where nothing changed."""

import json

from memtree.conversation.addresses.former_addresses import former_digest
from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile

# Written down from a release with format 2: tenant "t", the messages of `posted`.
LAST_ADDRESS = "ecf224c22fe314150cc2735bb27aef0eca890aaff08bf5cfcc24ee02bf7bf29b"


def call(arguments):
    return {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}}


def posted(arguments='{"path": "a.py"}'):
    return [
        Message.of({"role": "system", "content": "S"}),
        Message.of({"role": "user", "content": "Hello<system-reminder>x</system-reminder>"}),
        Message.of({"role": "assistant", "content": "Hi", "tool_calls": [call(arguments)]}),
        Message.of({"role": "tool", "tool_call_id": "c", "content": "1<system-reminder>y"
                    "</system-reminder>"}),
        Message.of({"role": "user", "content": [{"type": "text", "text": "And?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}]}),
    ]  # fmt: skip


def test_former_addresses_are_those_of_the_release_before():
    addresses, same = read("t", posted(), Volatile()).former_addresses()
    assert addresses[-1].hex() == LAST_ADDRESS
    assert same == 1, "the call is spelled with a space"


def test_only_what_changed_has_a_former_digest():
    facts = read("t", posted('{"path":"a.py"}'), Volatile()).facts
    assert [bool(fact.former) for fact in facts] == [False, False, True, True]


def test_a_chat_of_words_is_the_same_in_both_formats():
    words = [Message.of({"role": role, "content": f"{role} {n}"})
             for n in range(4) for role in ("user", "assistant")]  # fmt: skip
    history = read("t", words, Volatile())
    addresses, same = history.former_addresses()
    assert same == 8
    assert len(addresses) == 9
    assert not set(addresses) & set(history.addresses)


def test_one_conversation_has_one_address():
    """Whitespace in arguments, the wrapping of a picture, a reminder in a result."""
    compact = [json.loads(message.raw) for message in posted('{"path":"a.py"}')]
    compact[3]["content"] = "1"
    compact[4]["content"][1] = {
        "type": "input_image",
        "image_url": "data:image/png;base64,aGVsbG8=",
    }
    one = read("t", posted(), Volatile())
    other = read("t", [Message.of(fields) for fields in compact], Volatile())
    assert one.addresses == other.addresses
    for left, right in zip(one.messages, other.messages, strict=True):
        assert left.view(Volatile()).text == right.view(Volatile()).text
    assert former_digest(one.messages[1], Volatile()) != former_digest(
        other.messages[1], Volatile()
    )


def test_blocks_of_codex_were_text():
    block = "<environment_context>x</environment_context>"
    history = read("t", [Message.of({"role": "user", "content": f"{block}Go."})], Volatile())
    assert history.former_addresses()[1] == 0
