"""Check which form of a call is tried next, by what servers say when they refuse."""

from __future__ import annotations

import pytest

from memtree.models.chat_reply import (
    CONTENT,
    EFFORT,
    FORMAT,
    OBJECT,
    PLAIN,
    ROOM,
    SCHEMA,
    SPARE,
    TEMPER,
    UNKNOWN,
    KnownFormats,
    ResponseFormat,
    body,
    complaint,
    lesser,
)

ASKED = {"type": "json_schema", "json_schema": {"name": "parts"}}
# (parameter, message) as servers word it
REFUSALS = [
    (ROOM, "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. "
     "Use 'max_completion_tokens' instead."),
    (TEMPER, "temperature", "Unsupported value: 'temperature' does not support 0.3 with this "
     "model. Only the default (1) value is supported."),
    (FORMAT, None, "invalid_request_error This response_format type is unavailable now"),
    (FORMAT, None, "'response_format.type' must be 'json_schema' or 'text'"),
    (FORMAT, None, "[{'loc': ['body', 'response_format'], 'msg': 'extra inputs'}]"),
    (FORMAT, None, "json_validate_failed Failed to generate JSON. Please adjust your prompt."),
    (FORMAT, "response_format", "Invalid parameter: schema with max_tokens"),
    (EFFORT, None, "Unrecognized request argument supplied: reasoning_effort"),
    (ROOM, "max_tokens", "max_tokens is too large: 5046. This model's maximum context length is "
     "4096 tokens"),
    (CONTENT, "messages", "context_length_exceeded This model's maximum context length is 8192 "
     "tokens. However, you requested 9000 tokens (8000 in the messages, max_tokens 1000)."),
    (CONTENT, None, "exceed_context_size_error the request exceeds the available context size"),
    (CONTENT, None, "content_filter The response was filtered"),
    (UNKNOWN, None, "Bad Request"),
    (UNKNOWN, None, ""),
    (UNKNOWN, None, "x" * 5_000 + " temperature"),
]  # fmt: skip


@pytest.mark.parametrize(("about", "param", "text"), REFUSALS)
def test_what_a_refusal_is_about(about, param, text):
    assert complaint(param, text) == about


def test_everything_is_asked_at_first():
    asked = body(ResponseFormat(), "m", [{"role": "user", "content": "x"}], 100, ASKED)
    assert list(asked) == ["model", "messages", "response_format", "max_tokens", "temperature"]
    assert asked["response_format"]["type"] == "json_schema"
    assert asked["max_tokens"] == 100


def test_nothing_but_model_and_messages_is_left_in_the_end():
    form, forms = ResponseFormat(effort="low"), []
    while form is not None:
        forms.append(form)
        form = lesser(form, UNKNOWN)
    assert [one.format for one in forms[1:4]] == [SCHEMA, OBJECT, PLAIN]  # first the newest thing
    last = lesser(forms[-1], TEMPER)
    assert list(body(last, "m", [], 100, ASKED)) == ["model", "messages"]
    assert [lesser(last, about) for about in (FORMAT, ROOM, TEMPER, EFFORT, UNKNOWN)] == [None] * 5


def test_room_changes_its_name_and_is_made_smaller_first():
    large = ResponseFormat(spare=SPARE[1])
    assert body(large, "m", [], 100, ASKED)["max_tokens"] == 100 + SPARE[1]
    less = lesser(large, ROOM)
    assert body(less, "m", [], 100, ASKED)["max_tokens"] == 100
    assert body(lesser(less, ROOM), "m", [], 100, ASKED)["max_completion_tokens"] == 100


def test_a_refusal_without_a_reason_is_about_the_text_once_the_form_has_worked():
    forms = KnownFormats()
    assert forms.without(forms.form, UNKNOWN) == lesser(forms.form, FORMAT)
    assert forms.without(forms.form, CONTENT) is None
    forms.worked(forms.form, tried=False, fruitful=True)
    assert forms.without(forms.form, UNKNOWN) is None
    assert forms.without(forms.form, TEMPER) is not None


def test_what_was_found_is_kept_and_what_did_not_help_is_not():
    forms = KnownFormats()
    found = lesser(forms.form, FORMAT)
    assert forms.form.format == SCHEMA
    forms.worked(found, tried=True, fruitful=True)
    assert forms.form == found
    forms.worked(ResponseFormat(), tried=False, fruitful=True)  # a call that began earlier
    assert forms.form == found


def test_a_schema_that_bears_no_fruit_is_given_up():
    forms = KnownFormats()
    for fruitful in (False, False, True, False, False):
        forms.worked(forms.form, tried=False, fruitful=fruitful)
        assert forms.form.format == SCHEMA
    forms.worked(forms.form, tried=False, fruitful=False)
    assert forms.form.format == OBJECT
    for _ in range(9):
        forms.worked(forms.form, tried=False, fruitful=False)
    assert forms.form.format == PLAIN


def test_effort_is_sent_to_those_that_think_unless_they_refuse_it():
    forms = KnownFormats()
    assert "reasoning_effort" not in body(forms.form, "m", [], 1, ASKED)
    forms.thinks()
    assert body(forms.form, "m", [], 1, ASKED)["reasoning_effort"] == "low"
    forms.worked(forms.without(forms.form, EFFORT), tried=True, fruitful=True)
    forms.thinks()
    assert "reasoning_effort" not in body(forms.form, "m", [], 1, ASKED)


def test_room_grows_and_stays():
    forms, form = KnownFormats(), ResponseFormat()
    for spare in SPARE[1:]:
        form = forms.grow(form)
        assert form.spare == forms.form.spare == spare
    assert forms.grow(form) is None
    assert forms.grow(ResponseFormat()).spare == SPARE[1]  # a call that began earlier
    assert forms.form.spare == SPARE[-1]
    assert KnownFormats().grow(ResponseFormat(room="")) is None  # there is no limit to raise
