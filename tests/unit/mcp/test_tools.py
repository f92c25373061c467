"""A call has an answer, whatever happens in it, and nothing of its text is told to the log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest

from memtree import errors
from memtree.memories.book import MemoryBook
from memtree.memories.scope import Scope
from memtree_proxy.mcp.definitions import BY_NAME, TOOLS
from memtree_proxy.mcp.tools import Caller, MemoryTools

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
