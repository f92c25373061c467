"""Tools as a client lists and calls them, field by field."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree import errors
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.book import MemoryBook
from memtree.memories.memory import MAX_TAGS, MAX_TEXT_CHARS
from memtree.memories.memory_store import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree_proxy.mcp.listed_tools import BY_NAME, REMEMBER, TOOLS, ToolDefinition
from memtree_proxy.mcp.tool_arguments import (
    Confirm,
    Correct,
    Forget,
    ListMemories,
    Recall,
    Remember,
    SearchSessions,
    Settle,
    kept_reason,
    read,
    reference,
)
from memtree_proxy.mcp.tools import Caller, MemoryTools

# ------------------------------------------------------------------------------------------------
# Each field of each tool: its default, its form, and what is refused.


TEXT = "My son Colby lives in Los Angeles."
KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 2
NO_STRING: tuple[Any, ...] = (1, 1.5, True, [], {}, ["x"], math.nan, 10**400)


def remembered(**given: Any) -> Remember:
    return read(Remember, {"text": TEXT, **given})


def test_defaults():
    call = remembered()
    draft = call.draft
    assert draft.text == TEXT
    assert call.dedup_policy == "ask"
    assert (draft.tags, draft.importance, draft.source_type) == ((), 0.5, "model")
    for name in ("source_provider", "capture_mode", "session_id", "expires", "last_confirmed"):
        assert getattr(draft, name) is None, name
    assert draft.tainted


def test_every_field_is_taken():
    call = remembered(
        tags=[" Family ", "Los Angeles"],
        source_provider="some-model",
        importance=0.9,
        capture_mode="inferred",
        session_id="Session 7/é",
        dedup_policy="skip_if_near",
        expires_at="2026-03-07T11:30:00+01:00",
        last_confirmed_at="2026-03-07",
    )
    draft = call.draft
    assert draft.tags == ("family", "los-angeles")
    assert (draft.source_provider, draft.importance) == ("some-model", 0.9)
    assert (draft.capture_mode, draft.session_id) == ("inferred", "Session 7/é")
    assert call.dedup_policy == "skip_if_near"
    assert (draft.expires, draft.last_confirmed) == (1_772_879_400.0, 1_772_841_600.0)


def test_null_means_absent_and_unknown_fields_are_refused():
    names = ("tags", "source_provider", "importance", "capture_mode", "session_id",
             "dedup_policy", "expires_at", "last_confirmed_at")  # fmt: skip
    assert remembered(**dict.fromkeys(names)) == remembered()
    with pytest.raises(BadRequest, match="colour is not a known argument"):
        remembered(colour="red")


@pytest.mark.parametrize(("given", "kept"), [(0, 0.0), (1, 1.0), (0.25, 0.25)])
def test_importance_is_a_share(given, kept):
    assert remembered(importance=given).draft.importance == kept


@pytest.mark.parametrize(
    "value", ["0.5", True, -3, 1.5, 10**400, math.nan, math.inf, [], {}, [0.5]]
)
def test_importance_is_a_number(value):
    with pytest.raises(BadRequest) as caught:
        remembered(importance=value)
    assert caught.value.param == "importance"


@pytest.mark.parametrize("value", NO_STRING)
@pytest.mark.parametrize(
    "name",
    ["text", "source_provider", "capture_mode", "session_id", "dedup_policy", "expires_at",
     "last_confirmed_at"],
)  # fmt: skip
def test_what_is_no_string_is_refused_by_name(name, value):
    with pytest.raises(BadRequest) as caught:
        assert remembered(**{name: value}).draft
    assert caught.value.param == name
    assert name in caught.value.message


@pytest.mark.parametrize("value", ["a", 1, {}, [1], [None], ["x", ["y"]], ["a" * 33], ["b"] * 2000])
def test_tags_are_a_list_of_short_strings(value):
    with pytest.raises(BadRequest, match="tags"):
        assert remembered(tags=value).draft


@pytest.mark.parametrize(
    ("name", "value"),
    [("capture_mode", "guessed"), ("capture_mode", ""), ("dedup_policy", "always"),
     ("dedup_policy", "ASK"), ("expires_at", "tomorrow"), ("expires_at", ""),
     ("expires_at", "2026-02-30"), ("last_confirmed_at", "1772879400")],
)  # fmt: skip
def test_other_words_are_refused_by_name(name, value):
    with pytest.raises(BadRequest) as caught:
        assert remembered(**{name: value}).draft
    assert caught.value.param == name


@pytest.mark.parametrize("text", [None, "", "  \n\t ", "half \ud800 pair", "nul \0 byte"])
def test_a_text_that_cannot_be_kept(text):
    with pytest.raises(BadRequest) as caught:
        remembered(text=text)
    assert caught.value.param == "text"


@pytest.mark.parametrize("name", ["source_provider", "session_id"])
def test_other_texts_can_be_stored_too(name):
    for bad in ("\ud800", "a\0b"):
        with pytest.raises(BadRequest, match=name):
            remembered(**{name: bad})
    assert remembered(**{name: ""}).draft == remembered().draft


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(
    SCALARS | st.sampled_from(["ask", "explicit", "2026-03-07", "mem_a", "family", "\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=6,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_whatever_is_given_is_read_or_refused_by_name(name):
    fields = BY_NAME[name].input_schema["properties"]

    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, JSON)))
    def run(asked):
        named = next(iter(fields))
        try:
            read(BY_NAME[name].arguments, asked)
        except BadRequest as error:
            named = error.param.partition("[")[0]
        except SecretRejected:
            pass
        assert named in fields

    run()


# -- recall -----------------------------------------------------------------------------------


def test_recall():
    call = read(Recall, {"query": "where?"})
    assert (call.query, call.wanted, call.limit) == ("where?", ANY, 5)
    call = read(Recall, {"query": "where?", "tags": ["Family"], "limit": 7, "session_id": "s1"})
    assert call.wanted == MemoryFilter(tags=("family",), session_id="s1")
    assert call.limit == 7


@pytest.mark.parametrize("value", [0, -5, 101, 10**30, 3.0, 1.5, True, [], "many", math.nan])
def test_a_limit_is_an_integer(value):
    for kind in (Recall, ListMemories, SearchSessions):
        asked = {} if kind is ListMemories else {"query": "q"}
        with pytest.raises(BadRequest, match="limit must be"):
            read(kind, {**asked, "limit": value})


@pytest.mark.parametrize("query", [*NO_STRING, None, "", " ", "\ud800", "a" * 101])
def test_a_query_is_a_text(query):
    with pytest.raises(BadRequest, match="query"):
        read(Recall, {"query": query}, max_query=100)


# -- one memory -------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "ref"), [(1, 1), ("12", 12), ("mem_0aZ_-", "mem_0aZ_-")])
def test_a_memory_by_number_or_id(given, ref):
    assert read(Confirm, {"id": given}) == read(Confirm, {"memory_id": given}) == Confirm(given)
    assert reference(read(Forget, {"id": given}).id) == ref
    assert reference(read(Correct, {"id": given, "text": "t"}).id) == ref
    assert reference(read(Settle, {"id": 1, "with": given, "action": "replace"}).other) == ref


@pytest.mark.parametrize(
    "given",
    [None, "", "abc", "mem_", "mem_\ud800", "mem_" + "a" * 101, "mem_a b", True, 1.5, math.nan,
     math.inf, [], {}, "-1", "1" * 19, 12.0, 0, -1, 2**63, 10**400],
)  # fmt: skip
def test_what_names_no_memory(given):
    with pytest.raises(BadRequest) as caught:
        read(Confirm, {"id": given})
    assert caught.value.param == "id"


@pytest.mark.parametrize("kind", [Forget, Correct])
def test_a_reason(kind):
    given = {"id": 1} if kind is Forget else {"id": 1, "text": "t"}
    assert kept_reason(read(kind, {**given, "reason": " moved "}).reason) == "moved"
    assert kept_reason(read(kind, {**given, "reason": None}).reason) == ""
    for value in (*NO_STRING, "x" * 1_001, "\ud800"):
        with pytest.raises(BadRequest, match="reason"):
            read(kind, {**given, "reason": value})
    with pytest.raises(SecretRejected) as caught:
        kept_reason(read(kind, {**given, "reason": f"it held {KEY}"}).reason)
    assert KEY not in caught.value.message


def test_a_correction_has_a_text():
    assert read(Correct, {"id": 1, "text": "t"}).draft.source_type == "model"
    with pytest.raises(BadRequest, match="text"):
        read(Correct, {"id": 1})


# -- a list -----------------------------------------------------------------------------------


def test_list():
    call = read(ListMemories, {})
    assert (call.wanted, call.cursor, call.limit) == (ANY, None, 20)
    call = read(ListMemories, {"cursor": "12", "limit": 100, "tags": ["A"]})
    assert (call.wanted, call.cursor, call.limit) == (MemoryFilter(tags=("a",)), "12", 100)


@pytest.mark.parametrize("value", [*NO_STRING, "x" * 201])
def test_a_cursor_is_a_short_string(value):
    with pytest.raises(BadRequest, match="cursor"):
        read(ListMemories, {"cursor": value})


# ------------------------------------------------------------------------------------------------
# Check what a client lists: the tools of the remember tool's document and the six beside it.


INPUTS = {
    "remember": {"text", "tags", "source_provider", "importance", "capture_mode", "session_id",
                 "dedup_policy", "expires_at", "last_confirmed_at", "standing"},
    "recall": {"query", "tags", "limit", "session_id"},
    "forget": {"id", "reason", "dry_run"},
    "correct": {"id", "text", "reason"},
    "confirm": {"id"},
    "list_memories": {"cursor", "limit", "tags", "standing", "conflicts"},
    "settle": {"id", "with", "action"},
}  # fmt: skip
REQUIRED = {
    "remember": ["text"],
    "recall": ["query"],
    "forget": ["id"],
    "correct": ["id", "text"],
    "confirm": ["id"],
    "list_memories": [],
    "settle": ["id", "with", "action"],
}


def test_names_and_inputs():
    assert {tool.name: set(tool.input_schema["properties"]) for tool in TOOLS} == INPUTS
    assert {tool.name: tool.input_schema["required"] for tool in TOOLS} == REQUIRED
    assert list(BY_NAME.values()) == list(TOOLS)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_json_schemas_that_simple_clients_read(tool: ToolDefinition):
    for schema in (tool.input_schema, tool.output_schema):
        assert jsonschema_rs.meta.is_valid(schema)
        assert schema["type"] == "object"
        assert "$ref" not in str(schema)
        assert "$defs" not in schema
    for name, field in tool.input_schema["properties"].items():
        assert field["description"], name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_may_refuse_within_its_own_schema(tool: ToolDefinition):
    refusal = {"ok": False, "error": "INVALID_INPUT", "message": "text is required"}
    assert jsonschema_rs.is_valid(tool.output_schema, refusal)
    assert not jsonschema_rs.is_valid(tool.output_schema, {"message": "Ok"})


def test_hints_say_what_is_safe_to_run_without_asking():
    assert {tool.name for tool in TOOLS if tool.read_only} == {"recall", "list_memories"}
    assert {tool.name for tool in TOOLS if tool.destructive} == {"forget", "correct", "settle"}


def test_limits_in_the_schema_are_those_of_the_reader():
    fields = REMEMBER.input_schema["properties"]
    assert fields["text"]["maxLength"] == MAX_TEXT_CHARS == 16_000
    assert fields["tags"]["maxItems"] == MAX_TAGS
    assert fields["dedup_policy"]["enum"] == ["ask", "insert", "skip_if_near"]
    assert fields["dedup_policy"]["default"] == "ask"
    assert fields["capture_mode"]["enum"] == ["explicit", "inferred"]
    assert fields["importance"] | {"description": ""} == {
        "type": "number", "minimum": 0, "maximum": 1, "default": 0.5, "description": "",
    }  # fmt: skip
    assert read(Remember, {"text": "t"}).draft.importance == fields["importance"]["default"]


def test_a_model_reads_the_tools_in_few_tokens():
    words = sum(len(f"{tool.description} {tool.input_schema}") for tool in TOOLS)
    assert words < 9_000


# ------------------------------------------------------------------------------------------------
# A call has an answer, whatever happens in it, and nothing of its text is told to the log.


CALLER = Caller(Scope.of_user("t_tenant", "ann"))
GIVEN = {"text": "canary text", "query": "canary query", "id": 1, "reason": "canary reason"}
SETTLED = {"id": 1, "with": 2, "action": "replace"}


def given_to(name: str) -> dict[str, Any]:
    if name == "settle":
        return SETTLED
    known = BY_NAME[name].input_schema["properties"]
    return {key: GIVEN[key] for key in GIVEN if key in known}


class BrokenBook:
    """Raises one error from whatever is asked of it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        async def method(*given: Any, **named: Any) -> None:
            self.asked.append((name, given, named))
            raise self.error

        return method


def tools(error: BaseException) -> tuple[MemoryTools, BrokenBook]:
    book = BrokenBook(error)
    return MemoryTools(cast(MemoryBook, book)), book


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_refusal_is_an_answer(name):
    carried, book = tools(errors.StoreUnavailable("the store is locked"))
    content, failed = await carried.call(name, given_to(name), CALLER)
    assert failed
    assert content == {"ok": False, "error": "DATABASE_ERROR", "message": "the store is locked"}
    ((_, given, _),) = book.asked
    assert given[0] == Scope.of_user("t_tenant", "ann")


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_defect_is_an_answer_that_says_nothing_of_itself(name, caplog):
    carried, _ = tools(TypeError("canary of the defect"))
    with caplog.at_level(logging.DEBUG):
        content, failed = await carried.call(name, given_to(name), CALLER)
    assert failed
    assert content["error"] == "INTERNAL_ERROR"
    assert "canary" not in str(content)
    assert "mcp.internal_error" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if tool.input_schema["required"]])
async def test_what_is_missing_is_named_before_the_book_is_asked(name):
    carried, book = tools(AssertionError())
    content, failed = await carried.call(name, {}, CALLER)
    assert failed
    assert content["error"] == "INVALID_INPUT"
    assert any(field in content["message"] for field in BY_NAME[name].input_schema["required"])
    assert book.asked == []


async def test_the_log_names_tool_tenant_and_code(caplog):
    carried, _ = tools(errors.NotFound("canary"))
    with caplog.at_level(logging.INFO):
        await carried.call("forget", given_to("forget"), CALLER)
    assert "mcp.call tool=forget tenant=t_tenant error=NOT_FOUND ms=" in caplog.text
    assert "canary" not in caplog.text


async def test_a_cancelled_call_is_cancelled():
    carried, _ = tools(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await carried.call("recall", given_to("recall"), CALLER)
