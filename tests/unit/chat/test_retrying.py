"""Check what upstreams refuse, in their words, and what is asked once more."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memtree.budget.packing import MARGIN
from memtree.config import Settings
from memtree.history import json_body
from memtree_proxy.chat import request_fields
from memtree_proxy.chat.context_overflow import (
    KEPT_SHARE,
    LARGE_PROMPT,
    LONGEST,
    Overflow,
    named_window,
    overflow_of,
    smaller_window,
)
from memtree_proxy.chat.learned_refusals import (
    LIFETIME,
    MAX_KEPT,
    MAX_MARKS,
    MAX_TENANTS,
    ModelLimits,
    ThinkingMarks,
    is_about_thinking,
    is_the_client_s,
)
from memtree_proxy.chat.learned_refusals import LONGEST as THINKING_REFUSAL_LONGEST
from memtree_proxy.chat.upstream_reply import MOST_KEPT, FirstEventReply, WatchedReply
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.messages_stream import MessagesErrors
from memtree_proxy.dialects.responses_stream import ResponsesErrors
from memtree_proxy.http.headers import Headers

# ------------------------------------------------------------------------------------------------
# Check what upstreams say about a prompt that is too long, in the words of each.

SENT = 9_000
OTHERS = "other_errors.tsv"


def rows(name: str) -> Iterator[list[str]]:
    text = (Path(__file__).parent / name).read_text("utf-8")
    return (line.split("\t") for line in text.splitlines() if line[:1] != "#")


def body(said: str) -> bytes:
    error = said if said[:1] == "{" else json.dumps({"error": {"message": said, "type": "bad"}})
    return error.encode()


def test_the_words_of_providers() -> None:
    wrong = []
    for status, *named, said in rows("overflows.tsv"):
        limit, counted = (None if number == "-" else int(number) for number in named)
        sent = counted or int(1.3 * (limit or SENT))
        error = body(said)
        event = b"event: error\ndata: " + error + b"\n\n"
        for raw in (error, event):
            overflow = overflow_of(int(status), raw, sent)
            if overflow != Overflow(limit, counted):
                wrong.append((overflow, limit, counted, raw))
    assert not wrong


def test_other_errors_are_no_overflow() -> None:
    read = [(overflow_of(int(status), body(said), SENT), said) for status, said in rows(OTHERS)]
    assert [row for row in read if row[0] is not None] == []


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ("The prompt exceeds the context window by 1,512 tokens.", SENT),
        ("prompt too long; exceeded max context length by 1512 tokens", SENT),
        ("Your input has 10000 tokens, 1512 tokens too many.", 10_000),
        ("上下文超出了 1512 个 token", SENT),
    ],
)
def test_an_excess_names_the_limit(said: str, counted: int) -> None:
    assert overflow_of(400, body(said), SENT) == Overflow(counted - 1_512, counted)


@pytest.mark.parametrize(
    "said",
    [b"", b"{}", b"[]", b"null", b"400 status code (no body)", b"<h1>400 Bad Request</h1>nginx",
     b'{"error": {"message": "Bad Request", "type": "invalid_request_error", "code": 400}}',
     b'{"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": ""}}}',
     b'{"error": {"message": "Request contains an invalid argument."}}'],
)  # fmt: skip
@pytest.mark.parametrize("status", [400, 413])
def test_an_error_without_a_reason_is_one_of_a_large_prompt(status: int, said: bytes) -> None:
    assert overflow_of(status, said, LARGE_PROMPT) == Overflow(None, None, explained=False)
    assert overflow_of(status, said, LARGE_PROMPT - 1) is None
    assert overflow_of(500, said, LARGE_PROMPT) is None


@pytest.mark.parametrize(
    "bytes_",
    [b'{"error": {"type": "request_too_large", "message": "Payload over 32 MB"}}',
     b"<center><h1>413 Request Entity Too Large</h1></center><hr><center>nginx</center>",
     b'{"error": {"message": "request entity too large"}}'],
)  # fmt: skip
def test_a_413_is_about_a_size_in_whatever_words(bytes_: bytes) -> None:
    assert overflow_of(413, bytes_, LARGE_PROMPT) == Overflow(None, None, explained=False)
    assert overflow_of(413, b"Upload of an image failed", LARGE_PROMPT) is None


def test_bytes_that_are_no_text_say_nothing() -> None:
    assert overflow_of(400, bytes(range(256)) * 100, SENT) is None


@pytest.mark.parametrize(
    "nested", ["[" * LONGEST, '{"a":' * (LONGEST // 5), '{"a":' * 20 + "1" + "}" * 20]
)
def test_deep_json_is_no_error_of_ours(nested: str) -> None:
    assert overflow_of(500, nested.encode(), SENT) is None


def prompt(window: int, output: int | None) -> float:
    return window * (1 - MARGIN) - request_fields.answer_reserve(output, window)


def test_the_window_is_the_limit_where_tokens_agree() -> None:
    assert named_window(Overflow(8_192, 9_000), 9_000, 1_000) == 8_192


def test_the_window_is_smaller_where_the_upstream_counts_more() -> None:
    assert named_window(Overflow(8_000, 20_000), 10_000, 500) == 4_000


def test_the_window_leaves_room_for_the_answer() -> None:
    window = named_window(Overflow(4_096, 2_104), 2_104, 2_000)
    assert window == 4_096
    assert prompt(window, 2_000) < 2_104


@pytest.mark.parametrize("said", [Overflow(None, None), Overflow(100_000, 9_000),
                                  Overflow(9_900, None)])  # fmt: skip
def test_a_limit_into_which_the_prompt_would_fit_is_none(said: Overflow) -> None:
    assert named_window(said, 9_000, 700) is None


@pytest.mark.parametrize("output", [None, 10, 700, 50_000])
@pytest.mark.parametrize("sent", [4_000, 9_000, 200_000])
def test_a_second_try_is_always_smaller(sent: int, output: int | None) -> None:
    assert abs(prompt(smaller_window(KEPT_SHARE, sent, output), output) - KEPT_SHARE * sent) < 2


@pytest.mark.parametrize(
    "said",
    [
        "プロンプトが長すぎます。最大コンテキスト長は6000トークンですが、9100トークンが送信されました。",
        "Die Anfrage überschreitet die maximale Kontextlänge von 6000 Tokens (9100 Tokens).",
        "Превышена максимальная длина: 9100 при лимите 6000.",
    ],
)
def test_languages_that_are_not_read_are_judged_by_their_numbers(said: str) -> None:
    assert overflow_of(400, body(said), SENT) == Overflow(6_000, 9_100, explained=False)
    near = said.replace("6000", "8900")  # either may be the prompt's; it is the larger one
    assert overflow_of(400, body(near), SENT) == Overflow(8_900, 9_100, explained=False)


@pytest.mark.parametrize(
    "said",
    [
        "Недостаточно средств: требуется 9100, доступно 2000.",
        "Ungültiges Schema für „f“ an Stelle 9100",
    ],
)
def test_one_number_or_a_number_without_a_prompt_says_nothing(said: str) -> None:
    assert overflow_of(402, body(said), SENT) is None
    assert overflow_of(400, body(said), 100_000) is None


# ------------------------------------------------------------------------------------------------
# Check what is kept of models that refused something.


def test_models_without_tools_are_kept_by_tenant_and_bounded():
    learned = ModelLimits()
    learned.learn_toolless("a", "m" * 300)
    assert not learned.takes_tools("a", "m" * 300)
    assert learned.takes_tools("b", "m" * 300)
    assert learned.takes_tools("a", "n")
    for number in range(MAX_KEPT):
        learned.learn_toolless("c", str(number))
    assert learned.takes_tools("a", "m" * 300)
    assert not learned.takes_tools("c", str(MAX_KEPT - 1))


def test_what_was_learned_expires():
    now = [1_000.0]
    learned = ModelLimits(lambda: now[0])
    learned.learn("a", "m" * 300, 8_000)
    learned.learn_toolless("a", "m")
    now[0] += LIFETIME - 1
    assert learned.window("a", "m" * 300) == 8_000
    assert not learned.takes_tools("a", "m")
    now[0] += 1
    assert learned.window("a", "m" * 300) is None
    assert learned.takes_tools("a", "m")
    learned.learn("a", "m" * 300, 9_000)
    assert learned.window("a", "m" * 300) == 9_000


def test_a_window_is_forgotten_for_one_tenant_and_model():
    learned = ModelLimits()
    for tenant, model in (("a", "m"), ("a", "n"), ("b", "m")):
        learned.learn(tenant, model, 8_000)
    learned.forget_window("a", "m")
    learned.forget_window("a", "unknown")
    assert learned.window("a", "m") is None
    assert learned.window("a", "n") == learned.window("b", "m") == 8_000


def test_a_named_window_gets_smaller_only_after_a_prompt_was_accepted():
    now = [1_000.0]
    learned = ModelLimits(lambda: now[0])
    for window in (6_000, 4_000, 7_000, 5_000):
        learned.learn_named("a", "m", window)
    assert learned.window("a", "m") == 7_000
    learned.confirm("a", "m")
    learned.learn_named("a", "m", 5_000)
    learned.learn_named("a", "m", 3_000)
    assert learned.window("a", "m") == 5_000
    learned.learn("a", "m", 3_000)  # it was accepted
    learned.learn_named("a", "m", 2_000)
    assert learned.window("a", "m") == 2_000
    now[0] += LIFETIME
    learned.learn_named("a", "m", 1_000)
    assert learned.window("a", "m") == 1_000, "what has expired says nothing"


def test_a_window_is_untested_until_a_prompt_was_accepted():
    learned = ModelLimits()
    learned.confirm("a", "m")
    assert not learned.is_untested("a", "m")
    learned.learn_named("a", "m", 6_000)
    assert learned.is_untested("a", "m")
    assert not learned.is_untested("b", "m")
    learned.confirm("a", "m")
    assert not learned.is_untested("a", "m")
    learned.learn("a", "n", 6_000)
    assert not learned.is_untested("a", "n")


# ------------------------------------------------------------------------------------------------
# The beginning of a stream, looked at before any of it goes on.

CREATED = b'event: response.created\ndata: {"type":"response.created"}\n\n'
FAILED = b'event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n'
DELTA = b'event: x\ndata: {"type":"response.output_text.delta","delta":"a"}\n\n'
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
ERROR = b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error"}}\n\n'
BLOCK = b'event: x\ndata: {"type":"content_block_start"}\n\n'
START = b'event: message_start\ndata: {"type":"message_start"}\n\n'
SSE: Headers = [(b"content-type", b"text/event-stream")]
JSON: Headers = [(b"content-type", b"application/json")]


class Chunks:
    """A reply of these chunks."""

    status = 200

    def __init__(self, *chunks: bytes) -> None:
        self.parts = chunks
        self.closed = False
        self.headers: Headers = SSE

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self.parts:
            yield chunk

    def close(self) -> None:
        self.closed = True


class Instead:
    """Another stream in the place of one that begins with an error; `seen`: that beginning."""

    def __init__(self, *chunks: bytes) -> None:
        self.other = Chunks(*chunks) if chunks else None
        self.seen: list[bytes] = []

    async def __call__(self, beginning: bytes) -> Chunks | None:
        self.seen.append(beginning)
        return self.other


async def got(reply: FirstEventReply | WatchedReply) -> list[bytes]:
    return [chunk async for chunk in reply.chunks()]


async def test_what_begins_an_answer_is_kept_back_until_it_is_no_error():
    instead = Instead(b"other")
    first = Chunks(PING, CREATED, DELTA, DELTA)
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    assert await got(reply) == [PING, CREATED + DELTA, DELTA]
    assert instead.seen == []


@pytest.mark.parametrize("step", [1, 7, 1_000])
async def test_an_error_is_replaced_however_it_is_cut_up(step: int):
    raw = b": alive\n\n" + PING + CREATED + FAILED
    instead = Instead(b"other ", b"stream")
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    shown = b"".join(await got(reply))
    alive = b"" if step == 1_000 else b": alive\n\n" + PING
    assert shown == alive + b"other stream"
    assert first.closed


async def test_where_there_is_no_other_the_first_goes_on():
    reply = FirstEventReply(Chunks(PING, ERROR), MessagesErrors().first_error, Instead())
    assert await got(reply) == [PING, ERROR]


async def test_a_ping_decides_nothing():
    instead = Instead(b"other")
    reply = FirstEventReply(Chunks(b": a\n\n", PING, ERROR), MessagesErrors().first_error, instead)
    assert await got(reply) == [b": a\n\n", PING, b"other"]
    assert instead.seen == [ERROR]
    begun = FirstEventReply(Chunks(PING + START, ERROR), MessagesErrors().first_error, instead)
    assert await got(begun) == [PING, b"other"]
    fine = FirstEventReply(Chunks(START, BLOCK, ERROR), MessagesErrors().first_error, instead)
    assert await got(fine) == [START + BLOCK, ERROR]


async def test_a_chat_goes_on_with_its_first_data():
    errors = ChatDialect(Settings()).errors
    role = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
    wrong = b'data: {"error": 1}\n\n'

    async def shown(*chunks: bytes, headers: Headers = SSE) -> list[bytes]:
        reply = Chunks(*chunks)
        reply.headers = headers
        return await got(FirstEventReply(reply, errors.first_error, Instead(b"other")))

    assert await shown(b": a\n\n", b"data: {", b'"error": 1}') == [b": a\n\n", b"other"]
    assert await shown(role, wrong) == [b"other"]
    assert await shown(b'{"error": 1}') == [b"other"]
    assert await shown(role, b": alive\n\n", wrong) == [role + b": alive\n\n", wrong]
    said = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    assert await shown(role, said, wrong) == [role + said, wrong]
    assert await shown(b"  ", b'{"er', b'ror": 1}', headers=JSON) == [b"  ", b"other"]
    assert await shown(b'{"choices": [', b"{}]}", headers=JSON) == [b'{"choices": [{}]}']
    assert await shown(b'{"choices": [', headers=JSON) == [b'{"choices": [']


async def test_a_long_beginning_is_not_kept_for_ever():
    head = CREATED[:-3] + b" " * MOST_KEPT
    reply = FirstEventReply(
        Chunks(head, b"}\n\n", FAILED), ResponsesErrors().first_error, Instead()
    )
    assert await got(reply) == [head, b"}\n\n", FAILED]


@pytest.mark.parametrize("step", [1_000, 20_000, 1_000_000])
async def test_an_error_behind_a_repeated_request_is_found(step: int):
    echo = b'data: {"type":"response.created","response":{"instructions":"' + b"a" * 50_000
    raw = (echo + b'"}}\n\n') * 2 + FAILED
    instead = Instead(b"other")
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    reply = FirstEventReply(first, ResponsesErrors().first_error, instead)
    assert await got(reply) == [b"other"]
    assert instead.seen == [FAILED]


async def test_a_stream_that_ends_in_its_beginning_is_whole():
    reply = FirstEventReply(Chunks(CREATED), ResponsesErrors().first_error, Instead(b"other"))
    assert await got(reply) == [CREATED]


@pytest.mark.parametrize(
    ("headers", "raw", "accepts"),
    [
        (SSE, PING + CREATED + DELTA, True),
        (SSE, PING + CREATED + FAILED, False),
        (SSE, PING + CREATED, False),
        (SSE, CREATED[:-2] + b" " * MOST_KEPT, True),
        (JSON, b'{"output": [{"id": {}}], "error": null}\n', True),
        (JSON, b'{"error": {"message": "prompt is too long"}}', False),
        (JSON, b'{"output": "' + b"x" * 20_000, True),
        (JSON, b'{"output": "', False),
        (JSON, b"gateway}", False),
        ([*JSON, (b"content-encoding", b"zstd")], b'{"output": []}', False),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1_000_000])
async def test_a_reply_is_relayed_and_accepted_if_it_is_no_error(
    headers: Headers, raw: bytes, accepts: bool, step: int
):
    step = max(step, len(raw) // 1_000)
    first = Chunks(*(raw[at : at + step] for at in range(0, len(raw), step)))
    first.headers = headers
    accepted: list[bool] = []
    reply = WatchedReply(first, ResponsesErrors().first_error, lambda: accepted.append(True))
    assert await got(reply) == list(first.parts)
    assert accepted == [True] * accepts


# ------------------------------------------------------------------------------------------------
# Check which histories go without their thinking from now on.

CHAIN = [b"root", b"1", b"2", b"3"]


def test_a_longer_history_goes_on_from_its_newest_mark():
    marks = ThinkingMarks()
    assert (marks.has_folded("a"), marks.any("a"), marks.length("a", CHAIN)) == (False, False, 0)
    marks.fold("a")
    assert (marks.has_folded("a"), marks.any("a"), marks.length("a", CHAIN)) == (True, False, 0)
    marks.mark("a", b"1")
    marks.mark("a", b"2")
    marks.mark("a", b"x")
    assert marks.length("a", CHAIN) == 2
    assert marks.length("a", CHAIN[:2]) == 1
    assert (marks.any("b"), marks.length("b", CHAIN)) == (False, 0)


def test_a_deletion_forgets_them():
    marks = ThinkingMarks()
    for tenant in "abc":
        marks.mark(tenant, b"2")
    marks.forget("a")
    assert [marks.any(tenant) for tenant in "abc"] == [False, True, True]
    marks.forget(None)
    assert not marks.has_folded("b")


def test_they_are_few():
    marks = ThinkingMarks()
    for number in range(MAX_MARKS + 1):
        marks.mark("a", b"%d" % number)
    assert marks.length("a", [b"", b"0"]) == 0
    assert marks.length("a", [b"", b"1"]) == 1
    for number in range(MAX_TENANTS):
        marks.fold(f"{number}")
    assert not marks.has_folded("a")
    assert marks.has_folded("0")


# ------------------------------------------------------------------------------------------------
# Errors about thinking, told from all others.

BOUND = (
    b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: '
    b'Invalid signature in thinking block. The block is bound to a different conversation."}}'
)
CHANGED = (
    b'{"error":{"message":"`thinking` or `redacted_thinking` blocks in the latest assistant '
    b'message cannot be modified. They must remain as they were."}}'
)


@pytest.mark.parametrize("body", [BOUND, CHANGED, BOUND.upper(), b"\xff" + BOUND])
def test_an_error_about_thinking_is_known(body: bytes):
    assert is_about_thinking(400, body)
    assert not is_about_thinking(413, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "prompt is too long: 5 tokens > 3 maximum"}}',
        b'{"error": {"message": "max_tokens must be greater than thinking.budget_tokens"}}',
        b'{"error": {"message": "this field cannot be modified"}}',
        b" " * THINKING_REFUSAL_LONGEST + BOUND,
        b"",
    ],
)
def test_other_errors_are_not(body: bytes):
    assert not is_about_thinking(400, body)


@pytest.mark.parametrize(
    ("posted", "headers", "said"),
    [
        (b'{"thinking": {"type": "adaptive"}}', {}, False),
        (b"{}", {"anthropic-beta": "interleaved-thinking-2025-05-14"}, False),
        (b'{"thinking": {"type": "adaptive", "block_binding": "drop_block"}}', {}, True),
        (b'{"block_binding": "keep"}', {}, True),
        (b"{}", {"anthropic-beta": "a-1,thinking-block-binding-2026-08-31"}, True),
    ],
)
def test_whoever_says_what_is_to_become_of_it_gets_that(
    posted: bytes, headers: dict[str, str], said: bool
):
    assert is_the_client_s(json_body.split(posted), headers) is said
