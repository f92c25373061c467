"""Check what upstreams say about a prompt that is too long, in the words of each."""

from __future__ import annotations

import json

import pytest

from memtree.budget.packing import MARGIN
from memtree_proxy.chat.retrying.context_overflow import (
    Overflow,
    named_window,
    overflow_of,
    smaller_window,
)

SAID = {
    "OpenAI": (400, "This model's maximum context length is 8192 tokens. However, your messages "
               "resulted in 9001 tokens. Please reduce the length of the messages.", 8192, 9001),
    "OpenAI with an answer": (400, "This model's maximum context length is 4097 tokens. However, "
                              "you requested 5102 tokens (4102 in the messages, 1000 in the "
                              "completion).", 4097, 4102),
    "OpenAI now": (400, "Input tokens exceed the configured limit of 272000 tokens. Your messages "
                   "resulted in 300123 tokens. Please reduce the length of the messages.",
                   272000, 300123),
    "OpenAI's window": (400, "Your input exceeds the context window of this model. Please adjust "
                        "your input and try again.", None, None),
    "Anthropic": (400, "prompt is too long: 215000 tokens > 200000 maximum", 200000, 215000),
    "Anthropic with an answer": (400, "input length and `max_tokens` exceed context limit: 197000 "
                                 "+ 8192 > 200000, decrease input length or `max_tokens` and try "
                                 "again", None, None),
    "Gemini": (400, "The input token count (1200000) exceeds the maximum number of tokens allowed "
               "(1048576).", 1048576, 1200000),
    "vLLM": (400, "This model's maximum context length is 32768 tokens. However, you requested "
             "40000 tokens in the messages, Please reduce the length of the messages.",
             32768, 40000),
    "vLLM later": (400, "The decoder prompt (length 40000) is longer than the maximum model length "
                   "of 32768. Make sure that `max_model_len` is no smaller than the number of text "
                   "tokens.", 32768, None),
    "llama.cpp": (400, "the request exceeds the available context size (8192 tokens), try "
                  "increasing it", 8192, None),
    "xAI": (400, "This model's maximum prompt length is 131072 but the request contains 140000 "
            "tokens.", 131072, 140000),
    "Mistral": (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
                "32768 maximum context length", 32768, 40000),
    "OpenRouter": (400, "This endpoint's maximum context length is 131072 tokens. However, you "
                   "requested about 150000 tokens (149000 of text input, 1000 in the output). "
                   "Please reduce the length of either one", 131072, 149000),
    "TGI": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
            "Given: 5000 `inputs` tokens and 512 `max_new_tokens`", 4096, 5000),
    "Bedrock": (400, "Input is too long for requested model.", None, None),
    "DeepSeek": (400, "This model's maximum context length is 65536 tokens. However, you requested "
                 "70000 tokens (66000 in the messages, 4000 in the completion).", 65536, 66000),
    "Groq": (413, "Please reduce the length of the messages or completion.", None, None),
    "by code": (400, "Too long.", None, None),
    "a gateway": (500, "litellm.ContextWindowExceededError: This model's maximum context length "
                  "is 8,192 tokens.", 8192, None),
    "a gateway's code": (500, "litellm.ContextWindowExceededError: too long", None, None),
    "LM Studio": (400, "The number of tokens to keep from the initial prompt is greater than the "
                  "context length (n_keep: 10247 >= n_ctx: 4096). Try to load the model with a "
                  "larger context length, or provide a shorter input", 4096, None),
    "LM Studio later": (400, "Trying to keep the first 10247 tokens when context the overflows. "
                        "However, the model is loaded with context length of only 4096 tokens, "
                        "which is not enough. Try to load the model with a larger context length, "
                        "or provide a shorter input", 4096, None),
    "MiniMax's code of an error": (400, "invalid params, context window exceeds limit (2013)",
                                   None, None),
    "an excess": (400, "The prompt exceeds the context window by 1,512 tokens.", None, None),
    "a name and a setting": (400, "The prompt does not fit: context size: 8192, model qwen-30",
                             8192, None),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_the_words_of_providers(name: str) -> None:
    status, message, limit, counted = SAID[name]
    code = "context_length_exceeded" if name == "by code" else "invalid_request_error"
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    assert overflow_of(status, body) == Overflow(limit, counted)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "max_tokens is too large: 200000. This model supports at most 16384 tokens."),
        (400, "Invalid value for 'messages[3].content': expected a string of text."),
        (429, "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 35000."),
        (401, "Incorrect API key provided. The maximum context length is no matter."),
        (500, "The server had an error while processing your request."),
        (413, "Request Entity Too Large"),
        (500, "ThrottlingException: Too many tokens."),
        (500, "Too many tokens, please wait before trying again."),
        (400, "Too many input tokens: the rate limit of your plan is reached."),
        (500, "Too many tokens per day."),
        (500, "Loading model with context size 8192"),
        (500, "failed to create context with model: context size 131072 is too large"),
        (500, "out of memory for a context length of 131072"),
        (400, "Invalid schema for function 'resize_context_window': array schema missing items."),
        (400, "Invalid schema for function 'context_window': array schema missing items."),
        (400, "tools.0.custom.context_window: extra inputs are not permitted"),
        (400, "Unknown parameter: `context_length`."),
        (400, 'Tool "context_size" is defined twice.'),
        (400, ""),
    ],
)
def test_other_errors_are_no_overflow(status: int, message: str) -> None:
    assert overflow_of(status, json.dumps({"error": {"message": message}}).encode()) is None


def test_bytes_that_are_no_text_say_nothing() -> None:
    assert overflow_of(400, bytes(range(256)) * 100) is None


def prompt(size: int, reserve: int) -> float:
    return size * (1 - MARGIN) - reserve


def test_the_window_is_the_limit_where_tokens_agree() -> None:
    assert named_window(Overflow(8_192, 9_000), 9_000, 1_000) == 8_192


def test_the_window_is_smaller_where_the_upstream_counts_more() -> None:
    assert named_window(Overflow(8_000, 20_000), 10_000, 500) == 4_000


@pytest.mark.parametrize("said", [Overflow(None, None), Overflow(100_000, 9_000),
                                  Overflow(9_900, None)])  # fmt: skip
def test_a_limit_into_which_the_prompt_would_fit_is_none(said: Overflow) -> None:
    assert named_window(said, 9_000, 700) is None


def test_a_second_try_is_always_smaller() -> None:
    reserve = 700
    assert prompt(smaller_window(9_000, reserve), reserve) < 0.9 * 9_000 + 1
