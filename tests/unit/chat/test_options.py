"""Check what requests say: clients, options, headers."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from starlette.datastructures import Headers

from memtree.config import MODES, Settings
from memtree.context.answer_state import Reason
from memtree.errors import BadRequest
from memtree.history.json_body import OWN_FIELDS, split
from memtree.memories.scope import Scope
from memtree_proxy.chat import memory_switch, request_fields
from memtree_proxy.chat.request_fields import patience
from memtree_proxy.http.decoding import names
from memtree_proxy.http.headers import CLIENTS, client_of
from memtree_proxy.wire.request_options import (
    DEFAULTS,
    ChatOptions,
    MemoryOptions,
    Mode,
    RagOptions,
    chat_options,
    context_options,
)

# ------------------------------------------------------------------------------------------------
# MemTree's own fields of a body, read once and strictly.


def asked(**body: Any) -> ChatOptions:
    return chat_options(split(msgspec.json.encode({"messages": [1], **body})))


def test_the_fields_are_those_that_are_taken_out_of_a_chat():
    assert set(names(ChatOptions)) == OWN_FIELDS
    assert get_args(Mode) == MODES


def test_the_documented_example():
    options = {"topK": 5, "scoreThreshold": 0.7, "includeMetadata": True, "type": "custom",
               "namespace": "my_namespace"}  # fmt: skip
    assert asked(use_rag=True, rag_options=options).rag == RagOptions(
        "my_namespace", 5, 0.7, metadata=True, type="custom"
    )


@pytest.mark.parametrize("options", [None, {}, {"topK": None, "type": None, "namespace": None}])
def test_what_is_not_said_is_as_by_default(options: Any):
    assert asked(use_rag=True, rag_options=options).rag == RagOptions(
        "default", 5, 0.5, metadata=False, type=None
    )
    assert asked(memory_options=options if options is None else {}).memory_options == (
        MemoryOptions()
    )


def test_null_is_absent():
    assert asked(**dict.fromkeys(OWN_FIELDS)) == DEFAULTS == asked()


@pytest.mark.parametrize("body", [{}, {"use_rag": False}, {"use_rag": None}])
def test_who_does_not_ask_for_passages_gets_none(body: dict[str, Any]):
    assert asked(**body).rag is None
    assert asked(**body, rag_options={"namespace": "n"}).rag is None


@pytest.mark.parametrize(("posted", "window"), [(1_024, 1_024), ("50000", 50_000), (10**7, 10**7)])
def test_the_window_may_be_a_numeric_string(posted: Any, window: int):
    assert asked(model_context_limit=posted).window == window


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("model_context_limit", 1_023, "must be an integer of at least 1024"),
        ("model_context_limit", 10**7 + 1, "must be an integer of at most 10000000"),
        ("model_context_limit", "1023", "must be an integer of 1024 to 10000000"),
        ("model_context_limit", "10000001", "must be an integer of 1024 to 10000000"),
        ("model_context_limit", "ten", "must be an integer of 1024 to 10000000"),
        ("model_context_limit", "50000\n", "must be an integer of 1024 to 10000000"),
        ("model_context_limit", "9" * 5_000, "must be an integer of 1024 to 10000000"),
        ("model_context_limit", 1.5, "must be an integer or a string"),
        ("model_context_limit", True, "must be an integer or a string"),
        ("target_tokens", 999, "must be an integer of at least 1000"),
        ("target_tokens", "8000", "must be an integer"),
        ("target_tokens", 2e4, "must be an integer"),
        ("expiration_days", 0, "must be an integer of at least 1"),
        ("expiration_days", 366, "must be an integer of at most 365"),
        ("memory", "yes", "must be a boolean"),
        ("mode", "quick", "must be one of auto, fresh, stable"),
        ("mode", 1, "must be a string"),
        ("query", 1, "must be a string"),
        ("use_rag", "true", "must be a boolean"),
        ("keep_patterns", "a", "must be an array"),
        ("keep_patterns", ["a"] * 21, "must have at most 20 elements"),
        ("rag_options", [], "must be an object"),
        ("memory_options", "on", "must be an object"),
    ],
)
def test_each_field_has_its_type_and_its_range(name: str, value: Any, rule: str):
    with pytest.raises(BadRequest) as caught:
        asked(**{name: value})
    assert (caught.value.param, caught.value.message) == (name, f"{name} {rule}")


@pytest.mark.parametrize(
    ("outer", "name", "value"),
    [
        *(("rag_options", "topK", value) for value in (0, 21, "7", 4.5, True, [5])),
        *(("rag_options", "scoreThreshold", value) for value in (3, -0.1, "0.5", True, {"a": 1})),
        *(("rag_options", "includeMetadata", value) for value in ("yes", 1)),
        *(("rag_options", "type", value) for value in (3, ["custom"])),
        *(("rag_options", "namespace", value) for value in (3, "", "a b", "a" * 201, "a/b", "a\n")),
        ("rag_options", "top_k", 5),
        *(("memory_options", "enabled", value) for value in (1, "true")),
        *(("memory_options", "top_k", value) for value in (0, 21, "4", 2.5, True)),
        *(("memory_options", "score_threshold", value) for value in (-3, 1.5, "0.7", {"a": 1})),
        ("memory_options", "topK", 5),
    ],
)  # fmt: skip
def test_a_fault_inside_an_option_is_named_by_its_path(outer: str, name: str, value: Any):
    with pytest.raises(BadRequest) as caught:
        asked(use_rag=False, **{outer: {name: value}})
    assert caught.value.param == f"{outer}.{name}"
    assert caught.value.message.startswith(f"{outer}.{name} ")


def test_options_are_read_as_they_are_said():
    options = {"enabled": True, "top_k": 2, "score_threshold": 1}
    assert asked(memory_options=options).memory_options == MemoryOptions(True, 2, 1.0)
    assert asked(mode="fresh", query="q", memory=False) == ChatOptions(
        mode="fresh", query="q", memory=False
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("index_only", 1), ("explain", "yes"), ("max_tokens", -1), ("max_tokens", "700"),
     ("max_output_tokens", 1.5), ("model", 4)],
)  # fmt: skip
def test_context_memory_judges_what_goes_to_no_upstream(name: str, value: Any):
    with pytest.raises(BadRequest, match=f"^{name} must be") as caught:
        context_options(split(msgspec.json.encode({name: value})))
    assert caught.value.param == name
    assert asked(**{name: value}) == DEFAULTS


# ------------------------------------------------------------------------------------------------
# Check which program posted a request: a name of a fixed list, or none.


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        ({"user-agent": "claude-cli/2.1.330 (external, sdk-cli)"}, "claude-code"),
        ({"user-agent": "node", "x-claude-code-session-id": "2219455a"}, "claude-code"),
        ({"user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64)"}, "codex"),
        ({"user-agent": "reqwest", "originator": "codex_cli_rs"}, "codex"),
        ({"user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23"}, "opencode"),
        ({"user-agent": "OpenAI/JS 6.49.0", "x-title": "Cline"}, "cline"),
        ({"user-agent": "OpenAI/JS 6.49.0", "x-title": "Roo Code"}, "roo-code"),
        ({"user-agent": "Kilo-Code/7.7.7"}, "kilo"),
        ({"user-agent": "litellm/1.81", "x-title": "Aider"}, "aider"),
        ({"user-agent": "QwenCode/0.15.10 (linux; x64)"}, "qwen-code"),
        ({"user-agent": "OpenAI/Python 2.54.0"}, "openai-python"),
        ({"user-agent": "AsyncOpenAI/Python 2.54.0"}, "openai-python"),
        ({"user-agent": "OpenAI/JS 6.26.0"}, "openai-node"),
        ({"user-agent": "ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30"}, "ai-sdk"),
        ({"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/156"}, ""),
        ({"user-agent": "My secret project's bot", "x-title": "ghp_" + "a1B2c3" * 6}, ""),
        ({}, ""),
    ],
)
def test_programs_by_their_headers(headers: dict[str, str], client: str) -> None:
    assert client_of(headers) == client
    assert client in (*CLIENTS, "")


# ------------------------------------------------------------------------------------------------
# How long a request may wait for its tree.


TIMES = [
    (None, 300, 280),
    ("600", 300, 280),
    ("60.0", 300, 55),
    ("3", 300, 280),  # less than the margin: no use to hurry
    ("nan", 300, 280),
    ("inf", 300, 280),
    ("NOT_GIVEN", 300, 280),
    ("600", 10, 10),
    (None, 10, 10),
]


@pytest.mark.parametrize(("timeout", "setting", "wanted"), TIMES)
def test_patience_in_silence(timeout: str | None, setting: int, wanted: float):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    assert patience(headers, Settings(wait_seconds=setting), silent=True) == wanted


@pytest.mark.parametrize("timeout", [None, "30"])
def test_with_signs_of_life_the_setting_alone_counts(timeout: str | None):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    for seconds in (60, 300):
        assert patience(headers, Settings(wait_seconds=seconds), silent=False) == seconds


@pytest.mark.parametrize(("timeout", "setting", "wanted"), TIMES)
def test_context_memory_waits_as_long(timeout: str | None, setting: int, wanted: float):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    body = split(b'{"messages": [{"role": "user", "content": "hi"}]}')
    ask = request_fields.context_ask("t", body, headers, Settings(wait_seconds=setting))
    assert ask.patience == wanted


# ------------------------------------------------------------------------------------------------
# The headers that switch memory on or off, and those by which a request opts in to that of a chat.


@pytest.mark.parametrize("switch", [None, "on", "ON", "", "perhaps", "1"])
def test_a_chat_that_is_named_is_in(switch: str | None):
    headers = {"x-chat-id": " 550e8400-e29b "}
    if switch is not None:
        headers["x-chat-memory"] = switch
    assert memory_switch.chat_of("t", headers) == Scope.of_chat("t", "550e8400-e29b")


@pytest.mark.parametrize("switch", ["off", " Off ", "false", "no", "0"])
def test_off_wins_and_then_the_id_does_not_count(switch: str):
    for chat in ("c", "not an id"):
        assert memory_switch.chat_of("t", {"x-chat-id": chat, "x-chat-memory": switch}) is None


def test_on_alone_names_no_chat():
    assert memory_switch.chat_of("t", {"x-chat-memory": "on"}) is None


@pytest.mark.parametrize("chat", ["", "a b", "a/b", "a" * 201, "\u00e9"])
def test_what_cannot_be_an_id_is_refused_by_its_name(chat: str):
    with pytest.raises(BadRequest) as refused:
        memory_switch.chat_of("t", {"x-chat-id": chat})
    assert refused.value.param == "x-chat-id"


def posted(name: str, *lines: str) -> Headers:
    return Headers(raw=[(name.encode(), line.encode()) for line in lines])


@pytest.mark.parametrize(
    ("lines", "on", "reason"),
    [
        (["on, on"], True, ""),
        (["on", "ON"], True, ""),
        (["on,true", "1"], True, ""),
        (["on,"], True, ""),
        (["off, off"], False, ""),
        (["on", "off"], False, Reason.UNKNOWN_SWITCH),
        (["on, off"], False, Reason.UNKNOWN_SWITCH),
        (["on", "perhaps"], False, Reason.UNKNOWN_SWITCH),
        (["perhaps, perhaps"], False, Reason.UNKNOWN_SWITCH),
        (["", ""], None, ""),
    ],
)
def test_a_switch_that_is_repeated_means_what_all_its_words_mean(
    lines: list[str], on: bool | None, reason: str
):
    assert memory_switch.by_headers(posted("x-polychat-memory", *lines)) == (on, reason)


@pytest.mark.parametrize("lines", [["on", "off"], ["on, off"]])
def test_off_wins_in_the_other_switches(lines: list[str]):
    assert memory_switch.by_headers(posted("memory", *lines)) == (False, "")
    assert not memory_switch.recall_tools(posted("x-memtree-recall-tools", *lines), True)
    chat = Headers(raw=[(b"x-chat-id", b"c"), *posted("x-chat-memory", *lines).raw])
    assert memory_switch.chat_of("t", chat) is None
