"""Digests name content, not its spelling; addresses name prefixes of one tenant's history."""

from __future__ import annotations

import pytest

from memtree.history import address_chain as address
from memtree.history.chat_history import read
from memtree.history.message import Message, Volatile


def digest(fields):
    return address.digest(Message.of(fields), Volatile())


def addresses(*messages, tenant="t"):
    return read(tenant, [Message.of(one) for one in messages], Volatile()).addresses


def user(content, **more):
    return {"role": "user", "content": content, **more}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def made(id_="c1", name="f", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


LAST_ADDRESS = "9706aff0a2dc70a4580ce33315de965e794a14c798116d8fcbebb6d83437288e"
CACHED = {"cache_control": {"type": "ephemeral"}}
PNG, GIF = ({"type": "image_url", "image_url": {"url": f"data:,{data}"}} for data in ("png", "gif"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("ab"), user([text("ab")])),
        (user("ab"), user([text("a"), text("b")])),
        (user("ab"), user([{"type": "input_text", "text": "ab"}])),
        (user("ab"), user([text("ab", **CACHED)])),
        (user("ab"), user("ab", **CACHED)),
        (user([text("a"), PNG]), user([text("a"), {**PNG, **CACHED}])),
        (user([text("a"), PNG]), user([PNG, text("a")])),
        (assistant(""), assistant(None)),
        (assistant(""), {"role": "assistant"}),
        (assistant(""), assistant([])),
        (assistant("a"), assistant("a", id="m1", refusal=None, parsed={"x": 1})),
        (assistant("a"), assistant("a", refusal="no")),
        (assistant("a"), assistant("a", reasoning_content="hm", reasoning_details=[{"t": "hm"}])),
        (assistant("a"), assistant("a", provider_specific_fields={"x": 1}, annotations=[])),
        (assistant("a"), assistant("a", tool_calls=None, function_call=None)),
        (assistant(None, tool_calls=[made("c1")]), assistant("", tool_calls=[made("c2")])),
        (
            assistant(None, function_call={"name": "f", "arguments": "{}"}),
            assistant(None, tool_calls=[made()]),
        ),
        (user("a<system-reminder>1</system-reminder>b"), user("ab")),
        (
            user("a<system-reminder>1</system-reminder>"),
            user("a<environment_details>2</environment_details>"),
        ),
        (
            {"role": "tool", "tool_call_id": "1", "content": "x", "name": "f"},
            {"role": "tool", "tool_call_id": "2", "content": [text("x")]},
        ),
    ],
)
def test_equal_digests(one, other):
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("a"), user("b")),
        (user("a"), assistant("a")),
        (user("a"), user("a", name="Ada")),
        (user("a"), user([text("a"), PNG])),
        (user([PNG]), user([GIF])),
        (user([PNG, GIF]), user([GIF, PNG])),
        (assistant("a"), assistant("a", tool_calls=[made()])),
        (assistant("", tool_calls=[made(name="ab", arguments="c")]),
         assistant("", tool_calls=[made(name="a", arguments="bc")])),
        (assistant("", tool_calls=[made(name="f"), made(name="g")]),
         assistant("", tool_calls=[made(name="g"), made(name="f")])),
        (assistant("a<system-reminder>1</system-reminder>"), assistant("a")),
        (user("a<system-reminder>1"), user("a")),
    ],
)  # fmt: skip
def test_unequal_digests(one, other):
    assert digest(one) != digest(other)


def test_text_does_not_slide_from_one_message_to_the_next():
    assert addresses(user("ab"), user("c"))[-1] != addresses(user("a"), user("bc"))[-1]


def test_appending_keeps_addresses_and_an_edit_changes_all_that_follow():
    base = [user("a"), assistant("b"), user("c"), assistant("d")]
    before, grown = addresses(*base), addresses(*base, user("e"))
    assert grown[:-1] == before
    edited = addresses(base[0], base[1], user("x"), base[3])
    assert edited[:3] == before[:3]
    assert not set(edited[3:]) & set(before)


def test_equal_messages_have_different_addresses():
    assert len(set(addresses(*[user("ok")] * 20))) == 21


def test_tenants_share_no_address():
    assert not set(addresses(user("a"))) & set(addresses(user("a"), tenant="u"))


def test_system_messages_are_not_hashed():
    bare = addresses(user("a"), assistant("b"))
    system, developer = {"role": "system", "content": "S"}, {"role": "developer", "content": "D"}
    assert addresses(system, user("a"), developer, assistant("b")) == bare


def test_a_tool_message_is_bound_to_the_position_of_its_call_not_to_its_id():
    def posted(first, second, answered):
        calls = [made(first, "f", "1"), made(second, "f", "2")]
        result = {"role": "tool", "tool_call_id": answered, "content": "x"}
        return addresses(user("go"), assistant(None, tool_calls=calls), result)[-1]

    assert posted("a", "b", "a") == posted("x", "y", "x")
    assert posted("a", "b", "a") != posted("a", "b", "b")


SPELLINGS = [
    (
        user("Hello<system-reminder>x</system-reminder>"),
        assistant("Hi", tool_calls=[made(name="look", arguments=arguments)]),
        {"role": "tool", "tool_call_id": "c1", "content": result},
        user([text("And?"), picture]),
    )
    for arguments, result, picture in (
        (
            '{"path": "a.py"}',
            "1<system-reminder>y</system-reminder>",
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
        ),
        (
            '{"path":"a.py"}',
            "1",
            {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="},
        ),
    )
]  # spaces in arguments, a reminder in a result, the wrapping of a picture


def test_one_conversation_has_one_address_whatever_its_spelling():
    one, other = (
        read("t", [Message.of(each) for each in spelling], Volatile()) for spelling in SPELLINGS
    )
    assert one.addresses == other.addresses
    for left, right in zip(one.messages, other.messages, strict=True):
        assert left.view(Volatile()).text == right.view(Volatile()).text


def test_addresses_stay_as_they_are_stored():
    """Stores hold addresses. One that changes belongs to another `FORMAT`."""
    assert addresses(*SPELLINGS[0])[-1].hex() == LAST_ADDRESS


def test_sizes():
    assert len(address.root("t")) == address.DIGEST_BYTES
    assert len(address.node_id("leaf", [])) == address.NODE_ID_BYTES
    assert address.node_id("leaf", [(b"a", 1, 2)]) != address.node_id("leaf", [(b"a", 1), 2])
