"""The rig itself: a proxy that spoils something between client and upstream is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.clients.rig import judge
from tests.http.served.running import running
from tests.made.scripted import Call, Cut, Fail, Say, Scripted
from tests.programs.server import PATIENCE
from tests.programs.tap import NUMBER, Tap

pytestmark = pytest.mark.slow

KEY = "rig"
STEPS = [Say("a", (Call("read", {"path": "x"}), Call("read", {"path": "y"}))), Say("b")]


class Spoiler:
    """A relay with a fault: what it does to the body on its way up, and to the answer."""

    def __init__(self, upstream: str, up: Callable[[Any], Any], down: Callable[[bytes], bytes]):
        self._upstream, self._up, self._down = upstream, up, down

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        kept = ("authorization", "content-type", NUMBER)
        headers = {k.decode(): v.decode() for k, v in scope["headers"] if k.decode() in kept}
        body = self._up(json.loads(raw))
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
            answer = await client.post(self._upstream + scope["path"], json=body, headers=headers)
        head = [(b"content-type", answer.headers["content-type"].encode())]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": head})
        await send({"type": "http.response.body", "body": self._down(answer.content)})


def problems(
    up: Callable[[Any], Any] = lambda body: body, down: Callable[[bytes], bytes] = lambda raw: raw
) -> list[str]:
    """A session of two requests through a spoiling relay, judged."""
    upstream = Scripted()
    script = upstream.script(KEY, STEPS)
    with running(upstream) as above, running(Spoiler(above, up, down)) as proxy:
        tap = Tap(proxy)
        with running(tap) as url:
            messages: list[Any] = [{"role": "user", "content": "hi"}]
            message = post(url, messages).json()["choices"][0]["message"]
            messages.append(message)
            for call in message["tool_calls"]:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": "text"})
            post(url, messages)
    return judge(tap.of(KEY), script).problems


def post(url: str, messages: list[Any]) -> httpx.Response:
    headers = {"authorization": f"Bearer {KEY}"}
    body = {"model": "m", "messages": messages, "tools": [{"type": "function"}]}
    where = f"{url}/v1/chat/completions"
    return httpx.post(where, json=body, headers=headers, timeout=PATIENCE, trust_env=False)


def test_a_relay_without_fault() -> None:
    assert problems() == []


def last_left_out(body: dict[str, Any]) -> dict[str, Any]:
    messages = body["messages"]
    return {**body, "messages": messages[:-1] if len(messages) > 1 else messages}


def round_left_out(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "messages": body["messages"][:1]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("up", "down", "told"),
    [
        (last_left_out, None, "did not arrive"),
        (round_left_out, None, "messages are left out"),
        (lambda body: {**body, "target_tokens": 1}, None, "leaks"),
        (None, lambda raw: raw + b" ", "not what the upstream said"),
    ],
)
def test_a_fault_is_told(up: Any, down: Any, told: str) -> None:
    faults = {name: one for name, one in (("up", up), ("down", down)) if one}
    assert any(told in one for one in problems(**faults))


def test_a_script_fails_and_cuts_once() -> None:
    upstream = Scripted()
    script = upstream.script(KEY, [Fail(429, "slow", 1), Cut(), Say("whole")])
    messages = [{"role": "user", "content": "hi"}]
    with running(upstream) as url:
        refused = post(url, messages)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        with pytest.raises(httpx.RemoteProtocolError):
            post(url, messages)
        assert script.at == 2
        assert post(url, messages).json()["choices"][0]["message"]["content"] == "whole"
    assert script.done
    assert script.over == 0
