"""Chats as a dialect, and translations of posted lists."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.config import Settings
from memtree.context.answer import Answer, AssistantLine, KeptMessage, MemoryText
from memtree.context.answer_state import State
from memtree.context.read_histories import FragmentKeys
from memtree.dialects.fragment_caches import ENTRY_BYTES, KnownTranslations, TranslationCache
from memtree.dialects.openai_chat import messages, with_text_before
from memtree.dialects.translated_messages import TranslatedMessages
from memtree.errors import BadRequest, ContextOverflow, NotFound
from memtree.history import json_body
from memtree.history.message import Message
from memtree.history.message_list import EarlierList
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.round_calls import StreamedCall, ToolRound
from memtree_proxy.dialects.sse import is_error

# ------------------------------------------------------------------------------------------------
# Chats as a dialect: what is posted is canonical, and only what changes is written.


DIALECT = ChatDialect(Settings(overflow_status=400))
BODY = json_body.split(
    b'{"model": "m", "messages": [{"role": "user",  "content": "a"}, {"role": "assistant",'
    b' "content": "b"}], "tools": [{"cache_control": {"type": "ephemeral"}}], "stream": true}'
)


def test_posted_messages_are_canonical_as_they_are():
    history = DIALECT.read(BODY, "t")
    assert [one.raw for one in history.messages] == [
        b'{"role": "user",  "content": "a"}', b'{"role": "assistant", "content": "b"}',
    ]  # fmt: skip
    assert (history.passes, history.side, history.markers) == ("", False, 1)
    assert history.tools_tokens > 0
    with pytest.raises(BadRequest, match="messages must be at most 1"):
        DIALECT.read(BODY, "t", 1)


def test_only_what_changes_is_written():
    history = DIALECT.read(BODY, "t")
    whole = Answer(State.PASSED, False, (KeptMessage(0), KeptMessage(1)), b"", 0, 0, 0)
    assert history.fields(None) == history.fields(whole) == {}
    assert history.fields(None, no_thinking_before=2) == {}
    shorter = Answer(State.PACKED, True, (KeptMessage(1),), b"", 0, 0, 0)
    kept = history.messages[1].raw
    assert history.fields(shorter, None, [b"5"]) == {"messages": b"[" + kept + b",5]"}
    posted = BODY.fragment("messages") or b""
    assert history.fields(whole, None, [b"5"]) == {"messages": posted[:-1] + b",5]"}


@pytest.mark.parametrize(
    "answer",
    [
        {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": True},
        {"id": "0", "choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}},
        {"base_resp": {"status_code": 0, "status_msg": ""}},
        {"candidates": [{}], "message": "a"},
        {"response": "a", "message": "b"},
        {"code": 0, "message": "success", "data": {"choices": [{}]}},
        {"error": None, "message": None, "detail": [], "errors": {}},
    ],
)
def test_an_answer_is_no_error(answer: dict[str, Any]):
    assert not is_error(answer)


def test_a_result_stands_under_the_id_of_its_call():
    asked = ToolRound((b"{}",), (StreamedCall(id="a"), StreamedCall(id="b")))
    assert [json.loads(raw) for raw in DIALECT.results(asked, ["x", "y"])] == [
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "tool", "tool_call_id": "b", "content": "y"},
    ]


def test_errors_are_openai_s():
    errors = DIALECT.errors
    assert errors.answer(ContextOverflow(10, 20), "r")[0] == 400
    status, body = errors.answer(NotFound("gone", param="p"), "r")
    assert (status, json.loads(body)["error"]["param"]) == (404, "p")
    assert errors.whole({"code": 1}) == b'{"error":{"code":1}}'
    assert errors.failed({"code": 1}) == b'data: {"error":{"code":1}}\n\ndata: [DONE]\n\n'
    assert errors.first_error(b'data: {"error": {"code": 400}}\n\n')
    assert errors.first_error(b'data: {"object": "error", "message": "too long"}\n\n')
    assert errors.first_error(b'data: {"detail": "too long"}\n\n')
    assert errors.first_error(b'data: {"base_resp": {"status_code": 2013}}\n\n')
    assert errors.first_error(b'error: {"code": 400, "message": "too long"}\n\n')
    assert errors.first_error(b'data: {"choices": [{"error": {"code": 400}}]}\n\n')
    full = b'"finish_reason": "model_context_window_exceeded"'
    assert errors.first_error(b'data: {"choices": [{"delta": {}, %b}]}\n\n' % full)
    said = errors.first_error(b'data: {"choices": [{"delta": {"content": "a"}, %b}]}\n\n' % full)
    assert said is False
    assert errors.first_error(b'data: {"choices": []}\n\n') is None
    assert errors.first_error(b"data: [DONE]\n\n") is False
    tools = b'data: {"choices": [{"delta": {"role": "assistant", "tool_calls": [{}]}}]}\n\n'
    assert errors.first_error(tools) is False
    assert errors.first_error(b": keep-alive") is None


# ------------------------------------------------------------------------------------------------
# Messages of chat completions: what stays does so byte for byte, and what is ours has its form.


BLOCK = '<recalled_context>\nÄ quote "here"\n</recalled_context>\n\n'
POSTED = (
    Message(b'{"role": "system",  "content": "be brief"}'),
    Message(b'{"content": "What?",  "role": "user"}'),
)


def user(content, **more):
    return {"role": "user", "content": content, **more}


def test_kept_messages_stay_byte_for_byte_in_the_order_of_the_items():
    kept = messages([KeptMessage(1), KeptMessage(0)], POSTED)
    assert kept == (POSTED[1].raw, POSTED[0].raw)


def test_a_block_stands_in_front_of_the_text_of_its_message():
    (sent,) = messages([KeptMessage(1, BLOCK)], POSTED)
    assert sent == POSTED[1].raw.replace(
        b'"What?"', json.dumps(BLOCK + "What?", ensure_ascii=False).encode()
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x", "x" + BLOCK),
        ("", BLOCK),
        (None, BLOCK),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": t} for t in ("x", BLOCK)]),
        ([], [{"type": "text", "text": BLOCK}]),
    ],
)
def test_a_block_stands_behind_the_text_of_a_result(content, expected):
    result = {"role": "tool", "tool_call_id": "c", "content": content}
    (sent,) = messages([KeptMessage(0, BLOCK, behind=True)], [Message.of(result)])
    assert json.loads(sent) == {**result, "content": expected}


def test_a_block_is_the_text_of_a_result_without_content():
    result = {"role": "tool", "tool_call_id": "c"}
    (sent,) = messages([KeptMessage(0, BLOCK, behind=True)], [Message.of(result)])
    assert json.loads(sent) == {**result, "content": BLOCK}


def test_a_line_is_the_assistants():
    (sent,) = messages([AssistantLine("Understood.")], ())
    assert json.loads(sent) == {"role": "assistant", "content": "Understood."}


MARKER = {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("memory", "content"),
    [
        (MemoryText("x"), "x"),
        (MemoryText("x", as_parts=True), [{"type": "text", "text": "x"}]),
        (
            MemoryText("x", as_parts=True, cache_marker=MARKER),
            [{"type": "text", "text": "x", "cache_control": MARKER}],
        ),
    ],
)
def test_the_memory_message_is_the_users(memory, content):
    (sent,) = messages([memory], ())
    assert json.loads(sent) == user(content)


# ---------------------------------------------------------------- text before a message's own


def test_a_string_stays_a_string():
    found = json.loads(with_text_before(b'{"role":"user","content":"What?"}', BLOCK))
    assert found == user(f"{BLOCK}What?")


def test_other_fields_stay_byte_for_byte():
    front = rb'{"name":"M\u00fcller","x-new":{"b":1.50, "a":[1e3,null]},"role":"user","content":'
    back = rb',"\u0061":"\ud83d\ude00","zz":12345678901234567890,"cache_control":{"type":"x"}}'
    found = with_text_before(front + b'"caf\xc3\xa9 \\u00e9"' + back, BLOCK)
    assert found.startswith(front)
    assert found.endswith(b'caf\xc3\xa9 \\u00e9"' + back)
    assert json.loads(found)["content"] == f"{BLOCK}café é"


def test_space_between_fields_stays():
    """`json.dumps` writes such space: a proxy that relays bytes must not make it compact."""
    front, back = b'{"role": "user", "content": ', b', "name": "me"}'
    found = with_text_before(front + b'"What?"' + back, BLOCK)
    assert found.startswith(front)
    assert found.endswith(back)


def test_a_string_keeps_its_text_whatever_it_holds():
    text = 'a "b" \\ \u2028 \U0001f600 \x00 </recalled_context>\n\n'
    raw = json.dumps(user(text)).encode()
    assert json.loads(with_text_before(raw, BLOCK))["content"] == f"{BLOCK}{text}"


PICTURE = (
    rb'{"image_url":{"url":"data:image/png;base64,iVBOR\/w=="},"type":"image_url","\u00e4":1.0}'
)
TEXT = rb'{"type":"text","text":"caf\u00e9","cache_control":{"type":"ephemeral"}}'


@pytest.mark.parametrize("parts", [[PICTURE, TEXT], [TEXT, PICTURE], [TEXT], [PICTURE]])
def test_a_list_gains_a_first_part_and_keeps_the_others_byte_for_byte(parts):
    raw = b'{"role":"user","content":[' + b",".join(parts) + b'],"name":"n"}'
    found = with_text_before(raw, BLOCK)
    assert found.endswith(b"," + b",".join(parts) + b'],"name":"n"}')
    first, *others = json.loads(found)["content"]
    assert first == {"type": "text", "text": f"{BLOCK}"}
    assert others == json.loads(raw)["content"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
parts = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=20)})
contents = st.text(max_size=40) | st.lists(parts, max_size=3)


@pytest.mark.slow
@given(contents, st.dictionaries(st.text(max_size=6), values, max_size=4), st.booleans(), st.text())
def test_any_message_keeps_everything_else(content, more, ascii_, block):
    fields = {"role": "user", **more, "content": content}
    raw = json.dumps(fields, ensure_ascii=ascii_, separators=(",", ":")).encode()
    found = json.loads(with_text_before(raw, block))
    assert list(found) == list(fields)
    own = found.pop("content")
    assert found == {key: value for key, value in fields.items() if key != "content"}
    if isinstance(content, str):
        assert own == f"{block}{content}"
    else:
        assert own == [{"type": "text", "text": f"{block}"}, *content]


# ------------------------------------------------------------------------------------------------
# Translations of posted lists: which are found again, and what goes.


@dataclass(frozen=True, slots=True)
class Sized:
    nbytes: int = 100


def known(most: int = 10_000) -> KnownTranslations[Sized]:
    return KnownTranslations(most)


def kept(found: KnownTranslations[Sized], tenant: str = "t") -> list[int]:
    return [number for number in range(9) if found.get(tenant, number) is not None]


def test_a_list_is_found_by_its_number_and_its_tenant():
    found, one = known(), Sized()
    found.put("t", 1, one)
    assert found.get("t", 1) is one
    assert found.get("other", 1) is None
    assert found.get("t", 2) is None


def test_of_a_list_that_grows_the_newest_two_are_kept():
    found = known()
    for number in range(1, 5):
        found.put("t", number, Sized(), number - 1 or None)
    found.put("t", 4, Sized(), 4)  # posted again
    assert kept(found) == [3, 4]
    found.put("t", 5, Sized(), 3)  # another branch
    assert kept(found) == [3, 4, 5]


def test_all_together_take_no_more_bytes_than_they_may():
    found = known(most=2_000)
    for number in range(9):
        found.put("t", number, Sized())
        assert found.nbytes <= 2_000
    assert kept(found) == [5, 6, 7, 8]
    found.put("t", 1, Sized(3_000))
    assert kept(found) == [5, 6, 7, 8]


def test_what_was_used_last_goes_last():
    found = known(most=2_000)
    for number in range(4):
        found.put("t", number, Sized())
    assert found.get("t", 0)
    found.put("t", 4, Sized())
    assert kept(found) == [0, 2, 3, 4]


def test_a_deletion_drops_what_the_tenant_has():
    found = known()
    for tenant in "ab":
        found.put(tenant, 1, Sized())
    found.forget("a")
    assert (kept(found, "a"), kept(found, "b")) == ([], [1])
    found.forget()
    assert kept(found, "b") == []
    assert found.nbytes == 0


# ------------------------------------------------------------------------------------------------
# Messages that are made when they are looked at.


SYSTEM = Message(b'{"role":"system"}')


class Maker:
    """Record of which messages were made."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def __call__(self, index: int) -> Message:
        self.made.append(index)
        return Message(b"%d" % index)


def test_a_message_is_made_once_when_it_is_looked_at():
    make = Maker()
    messages = TranslatedMessages((SYSTEM,), 4, make, size=4, made={3: Message(b"known")})
    assert len(messages) == 5
    assert messages.size == 4 + len(SYSTEM.raw)
    assert make.made == []
    assert messages[0] is SYSTEM
    assert messages[-1].raw == b"known"
    assert messages[2].raw == b"1"
    assert messages[2] is messages[2:3][0]
    assert make.made == [1]
    assert [message.raw for message in messages[1:]] == [b"0", b"1", b"2", b"known"]
    assert make.made == [1, 0, 2]


@pytest.mark.parametrize("index", [5, -6])
def test_there_are_no_others(index):
    with pytest.raises(IndexError):
        TranslatedMessages((SYSTEM,), 4, Maker(), size=4)[index]


def test_what_the_list_says_of_itself():
    earlier = EarlierList(7, 2)
    messages = TranslatedMessages((SYSTEM,), 4, Maker(), size=4, loading=(0, 3), earlier=earlier)
    assert messages.earlier == earlier
    assert list(messages.loading) == [1, 4]
    assert messages.number != TranslatedMessages((), 0, Maker(), size=0).number


# ------------------------------------------------------------------------------------------------
# The cache of translations: bounded in bytes, and no tenant meets another's entries.


def full(entries: int, size: int = 100) -> TranslationCache[bytes]:
    """A cache with room for that many entries of `size` bytes."""
    return TranslationCache(1, entries * (size + ENTRY_BYTES))


def translation_cache_kept(cache: TranslationCache[bytes], raws: list[bytes]) -> list[bytes]:
    return [raw for raw in raws if cache.get("a", raw) is not None]


def test_what_was_put_is_found_by_tenant_and_bytes():
    cache: TranslationCache[bytes] = TranslationCache(1)
    cache.put("a", b"raw", b"canonical", 9)
    assert cache.get("a", b"raw") == b"canonical"
    assert cache.get("a", b"raw ") is None
    assert cache.get("b", b"raw") is None


def test_a_request_that_began_before_a_deletion_keeps_nothing():
    cache: TranslationCache[bytes] = TranslationCache(1)
    began = cache.deletions
    cache.put("a", b"kept", b"canonical", 9, began)
    assert translation_cache_kept(cache, [b"kept"]) == [b"kept"]
    cache.forget()
    cache.put("a", b"late", b"canonical", 9, began)
    assert (translation_cache_kept(cache, [b"kept", b"late"]), cache.nbytes) == ([], 0)
    cache.put("a", b"new", b"canonical", 9, cache.deletions)
    assert translation_cache_kept(cache, [b"new"]) == [b"new"]


def test_the_oldest_go_when_it_is_full():
    cache = full(4)
    raws = [bytes([n]) for n in range(6)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    assert translation_cache_kept(cache, raws) == raws[2:]


def test_a_large_entry_takes_the_room_of_several():
    cache = full(4)
    raws = [bytes([n]) for n in range(4)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    cache.put("a", b"large", b"large", 3 * (100 + ENTRY_BYTES) - ENTRY_BYTES)
    assert translation_cache_kept(cache, [*raws, b"large"]) == [raws[3], b"large"]


def test_what_is_larger_than_all_may_be_is_not_kept_and_costs_nobody_a_place():
    cache = full(4)
    cache.put("a", b"raw", b"raw", 100)
    cache.put("a", b"huge", b"huge", 10_000_000)
    assert translation_cache_kept(cache, [b"raw", b"huge"]) == [b"raw"]


def test_an_entry_that_is_put_again_counts_once():
    cache = full(4)
    for _ in range(20):
        cache.put("a", b"raw", b"raw", 100)
    others = [bytes([n]) for n in range(3)]
    for raw in others:
        cache.put("a", raw, raw, 100)
    assert translation_cache_kept(cache, [b"raw", *others]) == [b"raw", *others]


def test_forgetting_leaves_nothing_and_all_the_room():
    cache = full(4)
    raws = [bytes([n]) for n in range(4)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    cache.forget()
    assert translation_cache_kept(cache, raws) == []
    for raw in raws:
        cache.put("a", raw, raw, 100)
    assert translation_cache_kept(cache, raws) == raws


def test_keys_depend_on_the_seed_of_the_process():
    """Or whoever finds two fragments with one key could pass the one off as the other."""
    first = FragmentKeys(1)
    assert first.of("a", b"raw") == FragmentKeys(1).of("a", b"raw")
    assert first.of("a", b"raw") != FragmentKeys(2).of("a", b"raw")
    assert first.of("a", b"raw") != first.of("b", b"raw")
