"""Messages: each by itself, its day, its facts, and lists of them."""

from __future__ import annotations

import itertools
from array import array
from dataclasses import replace
from datetime import date, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.context.read_histories import MARK_BYTES, ROW_BYTES, MessageCache, row_bytes
from memtree.errors import BadRequest
from memtree.history.attachments import FLAT_TOKENS, LOW_DETAIL_TOKENS
from memtree.history.chat_history import MessageInfo, price, read
from memtree.history.day_marks import DayMark, MarkSource
from memtree.history.message import MESSAGE_OVERHEAD, Message, Segment, Volatile, read_messages
from memtree.history.message_days import day_text, message_days
from memtree.history.message_list import (
    ChosenMessages,
    EarlierList,
    MessageList,
    NumberedMessages,
    RawMessages,
    raws_of,
    size_from,
    unread,
)
from memtree.language.written_days import WrittenDay
from memtree.text import tokens
from tests.made.listed_messages import ListedMessages

# ------------------------------------------------------------------------------------------------
# Messages: lossless, parsed on demand, checked with a name for every place that is wrong.


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(name="read", arguments="{}", id_="c1"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def length(text):
    """A token is a character, so that prices can be added up by hand."""
    return len(text)


def test_a_name_is_read_once(monkeypatch):
    named = Message.of({"role": "assistant", "name": "Ben", "content": "hello"})
    assert named.name == "Ben"
    monkeypatch.setattr(Message, "said", None)
    assert named.name == "Ben"


def test_a_message_keeps_its_bytes():
    raw = b'{"content" : "h\\u00e9\\/",  "role":"user", "x": [1.50, {"y":null}]}'
    assert Message(raw).raw == raw
    assert Message(msgspec.Raw(raw)).raw == raw


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ("", ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], "ab"),
        ([IMAGE, {"type": "text", "text": "a"}], "a\n[image]"),
        ([{"type": "file", "file": {}}, {"type": "refusal", "refusal": "no"}], "no\n[file]"),
    ],
)
def test_text_of_content(content, text):
    assert Message.of({"role": "user", "content": content}).text == text


def test_absent_content_is_no_text():
    assert Message.of({"role": "assistant"}).text == ""


def test_calls_stand_in_the_text_and_their_arguments_can_be_quoted():
    message = Message.of(
        {
            "role": "assistant",
            "content": "Look:",
            "tool_calls": [call("ls", '{"p":1}'), call("cat")],
        }
    )
    assert message.text == 'Look:\nls {"p":1}\ncat {}'
    kinds = [(message.text[s.start : s.end], s.kind, s.quotable) for s in message.segments]
    assert kinds == [
        ("Look:", "text", True),
        ("\nls ", "name", False),
        ('{"p":1}', "call", True),
        ("\ncat ", "name", False),
        ("{}", "call", True),
    ]


def test_legacy_and_custom_calls():
    legacy = Message.of({"role": "assistant", "function_call": {"name": "f", "arguments": "1"}})
    custom = {"id": "c", "type": "custom", "custom": {"name": "f", "input": "1"}}
    modern = Message.of({"role": "assistant", "tool_calls": [custom]})
    assert [(c.name, c.arguments) for c in legacy.calls] == [("f", "1")]
    assert [(c.name, c.arguments) for c in modern.calls] == [("f", "1")]


# ---------------------------------------------------------------- volatile blocks


def test_closed_volatile_blocks_leave_the_view_of_user_messages():
    details = "<environment_details k='1'>\ny\n</environment_details>"
    text = f"a<system-reminder>x</system-reminder>b{details}c"
    assert Message.of({"role": "user", "content": text}).view(Volatile()).text == "abc"
    assert Message.of({"role": "assistant", "content": text}).view(Volatile()).text == text
    assert Message.of({"role": "user", "content": text}).view(Volatile(())).text == text


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>never closed",
        "<system-reminders>x</system-reminders>",
        "<system-reminder>x</environment_details>",
        "<b>x</b>",
    ],
)
def test_what_is_no_closed_volatile_block_stays(text):
    assert Volatile().strip(text) == text


def test_a_view_leads_back_to_the_posted_text_split_at_blocks():
    text = "<system-reminder>1</system-reminder>ab<system-reminder>2</system-reminder>cd"
    view = Message.of({"role": "user", "content": text}).view(Volatile())
    assert view.text == "abcd"
    assert [text[s:e] for s, e in view.posted(0, 4)] == ["ab", "cd"]
    assert [text[s:e] for s, e in view.posted(1, 3)] == ["b", "c"]
    assert [text[s:e] for s, e in view.posted(2, 4)] == ["cd"]
    assert view.posted(2, 2) == ()


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.booleans(), st.text("ab\n<é漢", max_size=6)), max_size=6),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_posted_spans_hold_the_text_of_the_view(pieces, low, size):
    text = "".join(
        f"<system-reminder>{body}</system-reminder>" if hidden else body for hidden, body in pieces
    )
    content = [{"type": "text", "text": text}, IMAGE]
    view = Message.of({"role": "user", "content": content}).view(Volatile())
    high = min(low + size, len(view.text))
    words = "".join(text[start:end] for start, end in view.posted(low, high))
    quotable = len(view.text) - len("\n[image]")
    assert words == view.text[low : min(high, quotable)]
    joined = [Segment(0, 0, "text"), *view.segments]
    assert all(one.end == other.start for one, other in itertools.pairwise(joined))


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "bad", [b'{"role":"user","content":"\xff"}', b'{"role":', b"[" * 5_000 + b"]" * 5_000]
)
def test_bad_messages_name_the_place(bad):
    with pytest.raises(BadRequest) as caught:
        read_messages([b'{"role":"user","content":"hi"}', bad])
    assert (caught.value.param, caught.value.status) == ("messages[1]", 400)
    assert caught.value.message.startswith("messages[1]: not valid JSON")


@pytest.mark.parametrize("raw", [b"[]", b"{}", b"null", b'"x"', b"[", b"", b"[" * 100_000])
def test_what_is_no_list_of_messages(raw):
    with pytest.raises(BadRequest) as caught:
        read_messages(raw)
    assert caught.value.param == "messages"


def test_a_message_that_is_not_utf8():
    with pytest.raises(BadRequest) as caught:
        read_messages([b'{"role":"user","content":"\xff"}'])
    assert caught.value.param == "messages[0]"


def test_every_role_is_read():
    roles = ("system", "developer", "user", "assistant")
    messages = read_messages([msgspec.json.encode({"role": role}) for role in roles])
    assert tuple(message.role for message in messages) == roles


@pytest.mark.parametrize("text", [{"a": 1}, 5])
def test_a_part_of_unknown_type_with_a_strange_text_is_no_crash(text):
    part = {"type": "thinking", "text": text}
    (message,) = read_messages(msgspec.json.encode([{"role": "user", "content": [part]}]))
    price(message, length)


# ---------------------------------------------------------------- prices


def test_a_price_is_text_calls_reasoning_and_overhead():
    message = Message.of(
        {
            "role": "assistant",
            "content": "12345",
            "name": "ab",
            "reasoning_content": "123",
            "tool_calls": [call("ls", "{}"), call("cat", "{}")],
        }
    )
    calls = (2 + 2 + MESSAGE_OVERHEAD) + (3 + 2 + MESSAGE_OVERHEAD)
    assert price(message, length) == MESSAGE_OVERHEAD + 5 + 2 + 3 + calls


def test_images_without_a_size_have_a_flat_price():
    low = {"type": "image_url", "image_url": {"url": "x", "detail": "low"}}
    message = Message.of({"role": "user", "content": [IMAGE, low]})
    assert price(message, length) == MESSAGE_OVERHEAD + FLAT_TOKENS + LOW_DETAIL_TOKENS


def test_what_is_kept_for_later_is_not_kept_parsed():
    message = Message.of({"role": "user", "content": "hi"})
    assert message.unread() is message
    assert message.role == "user"
    bare = message.unread()
    assert bare is not message
    assert bare.raw is message.raw
    assert bare.unread() is bare


def test_what_a_dialect_adds_is_kept_with_it():
    message = Message(b'{"role":"user","content":"hi"}', joined=True, loads=frozenset({"Edit"}))
    assert message.role == "user"
    bare = message.unread()
    assert bare is not message
    assert (bare.joined, bare.loads) == (True, {"Edit"})
    plain = Message.of({"role": "user", "content": "hi"})
    assert (plain.joined, plain.loads) == (False, frozenset())


# ------------------------------------------------------------------------------------------------
# The cache of facts: bounded, and no tenant meets another's entries.


def facts(n):
    return MessageInfo("user", bytes([n]) * 32, n, (), None)


def test_what_was_put_is_found_by_tenant_and_bytes():
    cache = MessageCache(1)
    cache.put("a", b"raw", facts(1))
    assert cache.get("a", b"raw") == facts(1)
    assert cache.get("a", b"raw ") is None
    assert cache.get("b", b"raw") is None


def test_those_that_were_used_least_lately_go_when_it_is_full():
    cache = MessageCache(1, most=4 * ROW_BYTES)
    for n in range(6):
        cache.put("a", bytes([n]), facts(n))
        assert cache.get("a", bytes([0]))
    assert [n for n in range(6) if cache.get("a", bytes([n]))] == [0, 3, 4, 5]
    assert cache.nbytes == 4 * ROW_BYTES


def test_many_tenants_do_not_pile_up():
    cache = MessageCache(1, most=4 * ROW_BYTES)
    for n in range(40):
        cache.put(f"tenant {n}", b"raw", facts(n))
        assert cache.get(f"tenant {n}", b"raw") == facts(n)
    assert cache.get("tenant 0", b"raw") is None


def test_keys_depend_on_the_seed_of_the_process():
    """Or whoever finds two fragments with one key could pass the one off as the other."""
    first, second = MessageCache(1), MessageCache(2)
    assert first.keys.of("a", b"raw") == MessageCache(1).keys.of("a", b"raw")
    assert first.keys.of("a", b"raw") != second.keys.of("a", b"raw")
    assert first.keys.of("a", b"raw") != first.keys.of("b", b"raw")


def test_a_day_mark_takes_room():
    mark = DayMark(WrittenDay(2023, 5, 8), MarkSource.HEAD)
    assert row_bytes(b"", replace(facts(1), day_mark=mark)) == row_bytes(b"", facts(1)) + MARK_BYTES


# ------------------------------------------------------------------------------------------------
# The day of each message: how long it holds, and which order day and month have.


def days(*texts, roles="ua"):
    names = {"u": "user", "a": "assistant"}
    posted = [
        Message.of({"role": names[roles[at % len(roles)]], "content": text})
        for at, text in enumerate(texts)
    ]
    return [
        date.fromordinal(day).isoformat() if day else ""
        for day in message_days(read("t", posted, Volatile()))
    ]


def test_a_day_holds_until_the_next():
    assert days("hi", "[8 May 2023]\nAda: a", "b", "2023-05-09\nc", "d") == [
        "", "2023-05-08", "2023-05-08", "2023-05-08", "2023-05-08",
    ]  # fmt: skip
    assert days("[8 May 2023]\na", "b", "2023-05-09\nc", "d")[2:] == ["2023-05-09"] * 2


def test_a_loose_day_neither_runs_back_nor_far_ahead():
    told = days("[8 May 2023]\na", "b", "2022-05-08\nc", "d", "2025-05-08\ne", "f", "2023-06-01: g")
    assert told == ["2023-05-08"] * 6 + ["2023-06-01"]


def test_two_loose_days_far_ahead_are_believed():
    told = days("[8 May 2023]\na", "b", "2025-05-08\nc", "d", "2025-05-08\ne", "f", "2025-05-09\ng")
    assert told == ["2023-05-08"] * 6 + ["2025-05-09"]


def test_a_loose_day_of_long_ago_is_told_about():
    assert days("8 May 1945: the end", "a") == ["", ""]
    assert days("[8 May 1945]\nAda: the end") == ["1945-05-08"]


def test_a_heading_may_run_back():
    assert days("[8 May 2023]\na", "[7 May 2020]\nb") == ["2023-05-08", "2020-05-07"]


@pytest.mark.parametrize(
    ("stamps", "wanted"),
    [
        (["08/05/2024, 13:56", "09/05/2024, 9:12"], ["2024-05-08", "2024-05-09"]),
        (["5/8/24, 1:56 PM", "5/9/24, 9:12 AM"], ["2024-05-08", "2024-05-09"]),
        (["08.05.24, 13:56", "09.05.24, 9:12"], ["2024-05-08", "2024-05-09"]),
        (["31/12/2023, 1:56 PM", "01/02/2024, 9:12 AM"], ["2023-12-31", "2024-02-01"]),
        (["12/31/2023, 13:56", "01/02/2024, 9:12"], ["2023-12-31", "2024-01-02"]),
        (["02/02/2024, 13:56", "2/3/2024, 9:12 AM"], ["2024-02-02", "2024-02-03"]),
    ],
)
def test_the_order_of_day_and_month(stamps, wanted):
    assert days(*(f"[{stamp}] Ada: hello" for stamp in stamps)) == wanted
    if not stamps[1].startswith("2/3"):
        assert days(*(f"{stamp} - Ada: hello" for stamp in stamps)) == wanted


def test_an_order_that_nothing_shows_gives_no_day():
    assert days("[8 May 2023]\na", "[05/06/2023]\nb", "c") == ["2023-05-08", "", ""]


def test_a_year_that_is_known():
    assert days("[8 May]\na", "[20 December 2023]\nb", "[24 December]\nc", "[3 January]\nd") == [
        "", "2023-12-20", "2023-12-24", "2024-01-03",
    ]  # fmt: skip


def test_a_reminder_before_the_first_answer_tells_when_the_session_was_taken_up():
    today = "<system-reminder>\nToday's date is {}.\n</system-reminder>"
    told = days(today.format("2023-05-09"), "a", today.format("2023-05-10"), "b")
    assert told == ["", "", "2023-05-10", "2023-05-10"]


def test_a_day_is_written_in_the_fewest_tokens():
    for ahead in range(0, 40_000, 173):
        day = date(1990, 1, 1) + timedelta(ahead)
        written = day_text(day.toordinal())
        assert tokens.count(written) < tokens.count(day.isoformat())


DAYS = st.dates(date(1971, 1, 1), date(2099, 12, 31))
HEADS = st.one_of(
    st.builds("[1:56 pm on {0.day} {0:%B}, {0.year}]\nAda: hello".format, DAYS),
    st.builds("[{0:%d/%m/%Y}, 13:56] Ada: hello".format, DAYS),
    st.builds("{0:%m/%d/%y}, 1:56 PM - Ada: hello".format, DAYS),
    st.builds("{0}\nhello".format, DAYS),
    st.builds("[{0.day} {0:%B}]\nhello".format, DAYS),
    st.text(max_size=30),
)


@given(st.lists(st.text(st.characters(exclude_categories=["Nd", "Cs"]), max_size=60), max_size=6))
def test_without_a_digit_there_is_no_day(texts):
    assert not any(days(*texts))


@given(st.lists(HEADS, max_size=12), st.integers(0, 12))
def test_days_stay_when_messages_are_added(texts, size):
    assert days(*texts[:size]) == days(*texts)[:size]


@given(DAYS)
def test_a_written_day_is_read_again(day):
    assert days(f"--- {day_text(day.toordinal())} ---") == [day.isoformat()]


# ------------------------------------------------------------------------------------------------
# A list of posted messages makes a message when it is looked at.


RAWS = [b'{"role":"user","content":"a"}', b'{"role":"assistant"}', b"[]", b'{"role":"tool"}']


def in_buffer(raws=RAWS, earlier=None):
    buffer, starts, ends = b"[", array("q"), array("q")
    for raw in raws:
        starts.append(len(buffer))
        buffer += raw
        ends.append(len(buffer))
        buffer += b" ,\n"
    return RawMessages(buffer, starts, ends, earlier)


def listed(earlier=None):
    return ListedMessages(tuple(map(Message, RAWS)), earlier)


@pytest.mark.parametrize("made", [in_buffer, listed])
def test_a_list_is_a_sequence_of_messages(made):
    posted = made(earlier=EarlierList(7, 2))
    assert [message.raw for message in posted] == RAWS
    assert [message.raw for message in posted[1:-1]] == RAWS[1:-1]
    assert [message.raw for message in posted[::-1]] == RAWS[::-1]
    assert posted[-1] is posted[3]
    assert len(posted) == 4
    assert posted.earlier == (7, 2)
    assert posted.size == sum(map(len, RAWS))
    assert [posted.size_from(at) for at in (1, 3, 4)] == [
        sum(map(len, RAWS[at:])) for at in (1, 3, 4)
    ]
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            posted[beyond]


def test_what_was_looked_at_is_parsed_once():
    posted = in_buffer()
    assert posted[0] is posted[0]
    assert posted[0].fields is posted[0:1][0].fields


@pytest.mark.parametrize("made", [in_buffer, listed, lambda: tuple(map(Message, RAWS))])
def test_unread_nothing_is_parsed(made):
    posted = made()
    assert posted[0].role == "user"
    bare = unread(posted)
    assert [message.raw for message in bare] == RAWS
    assert bare[0] is not posted[0]
    assert size_from(bare) == size_from(posted)


def test_every_list_has_a_number_of_its_own():
    numbers = [made().number for made in (in_buffer, listed, in_buffer)]
    assert len(set(numbers)) == 3


def test_chosen_messages_are_those_of_the_list():
    posted = in_buffer()
    chosen = ChosenMessages(posted, (0, 3))
    assert list(chosen) == [posted[0], posted[3]]
    assert chosen[-1] is posted[3]
    assert chosen[:1] == (posted[0],)
    assert len(chosen) == 2
    assert size_from(chosen) == posted.size  # they keep all of it
    assert size_from(chosen, 1) == len(RAWS[3])
    numbered = NumberedMessages(posted, (0, 3))
    assert list(numbered) == [(0, posted[0]), (3, posted[3])]
    assert numbered[1:] == ((3, posted[3]),)


def test_the_size_of_any_sequence():
    plain: list[tuple[Message, ...] | MessageList] = [tuple(map(Message, RAWS)), in_buffer()]
    for posted in plain:
        assert size_from(posted) == sum(map(len, RAWS))
        assert size_from(posted, 2) == sum(map(len, RAWS[2:]))


@pytest.mark.parametrize("made", [in_buffer, listed, lambda: tuple(map(Message, RAWS))])
def test_raws_are_those_of_the_messages(made):
    posted = made()
    assert list(map(raws_of(posted), range(len(RAWS)))) == RAWS
    chosen = ChosenMessages(posted, (1, 3))
    assert list(map(raws_of(chosen), range(2))) == [RAWS[1], RAWS[3]]
