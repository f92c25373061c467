"""Check what upstreams say about a prompt that is too long, in the words of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtree.budget.packing import MARGIN
from memtree_proxy.chat.retrying.context_overflow import (
    KEPT_SHARE,
    LARGE_PROMPT,
    LONGEST,
    Overflow,
    named_window,
    overflow_of,
    smaller_window,
)
from memtree_proxy.request import fields

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
    return window * (1 - MARGIN) - fields.answer_reserve(output, window)


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
