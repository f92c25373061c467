"""The litellm SDK: `completion` with tools, at once and streamed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

# Before the import: without it litellm asks a server for its table of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

from tests import project
from tests.clients.rig import Rig
from tests.made.scripted import MODEL
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK, Folder

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

PARTS = range(20)


def at_once(messages: list[Any], **options: Any) -> Any:
    return litellm.completion(messages=messages, **options)


def streamed(messages: list[Any], **options: Any) -> Any:
    chunks = list(litellm.completion(messages=messages, stream=True, **options))
    return litellm.stream_chunk_builder(chunks, messages=messages)


@pytest.mark.parametrize("ask", [at_once, streamed])
def test_tool_loop(rig: Rig, ask: Callable[..., Any]) -> None:
    key = f"litellm-{ask.__name__}"
    rig.script(key, project.work(PLAIN, PARTS))
    folder = Folder(project.files(len(PARTS), 4_000))
    messages: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        answer = ask(
            messages,
            model=f"openai/{MODEL}",
            api_base=rig.url,
            api_key=key,
            extra_headers={"x-polychat-memory": "on"},
            tools=DEFINITIONS,
            max_retries=0,
        )
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            done = folder.do(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": done})
    assert message.content == DONE
    assert folder.files[SUMMARY] == project.summary(PARTS)
    rig.check(key)
