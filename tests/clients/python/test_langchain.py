"""langchain-openai: `ChatOpenAI` with bound tools, asked at once and streamed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from tests import project
from tests.clients.rig import Rig
from tests.made.scripted import MODEL
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK, Folder

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PARTS = range(20)


def invoked(model: Any, messages: list[Any]) -> Any:
    return model.invoke(messages)


def streamed(model: Any, messages: list[Any]) -> Any:
    """Chunks are added to one message, as the library's users do."""
    chunks = iter(model.stream(messages))
    whole = next(chunks)
    for chunk in chunks:
        whole += chunk
    return whole


@pytest.mark.parametrize("ask", [pytest.param(invoked, marks=pytest.mark.long), streamed])
def test_tool_loop(rig: Rig, ask: Callable[[Any, list[Any]], Any]) -> None:
    key = f"langchain-{ask.__name__}"
    rig.script(key, project.work(PLAIN, PARTS))
    model = ChatOpenAI(
        model=MODEL,
        base_url=rig.url,
        api_key=key,  # type: ignore[arg-type]
        default_headers={"x-polychat-memory": "on"},
        max_retries=0,
    ).bind_tools(DEFINITIONS)
    folder = Folder(project.files(len(PARTS), 4_000))
    messages: list[Any] = [SystemMessage("You work on a project."), HumanMessage(TASK)]
    while True:
        answer = ask(model, messages)
        assert isinstance(answer, AIMessage)
        messages.append(answer)
        if not answer.tool_calls:
            break
        messages += [
            ToolMessage(folder.do(call["name"], call["args"]), tool_call_id=call["id"])
            for call in answer.tool_calls
        ]
    assert answer.content == DONE
    assert folder.files[SUMMARY] == project.summary(PARTS)
    rig.check(key)
