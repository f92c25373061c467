"""`/ui/demo.json`: a conversation that the routes take, and questions that it answers."""

from __future__ import annotations

import asyncio
import gzip

import msgspec

from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree_proxy.server.pages.web_pages import DEMO_PATH, DEMO_QUESTIONS, DEMO_TOKENS, HEADERS
from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.upstream import FakeUpstream

PACKED = {"accept-encoding": "gzip, br"}


async def test_a_long_conversation_with_questions_about_it():
    async with edge(None, keys=FakeKeys(acme=["K"])) as client:
        shown = (await client.get(DEMO_PATH)).json()
    read = history.read("", tuple(Message.of(each) for each in shown["messages"]), Volatile())
    assert DEMO_TOKENS <= read.tokens < 1.1 * DEMO_TOKENS
    assert len(set(shown["questions"])) == DEMO_QUESTIONS
    text = msgspec.json.encode(shown["messages"]).decode()
    for question in shown["questions"]:
        task = question.split()[1].rstrip(",")
        assert f"{task} is done" in text


async def test_it_is_made_once_and_sent_once():
    async with edge(None) as client:
        both = await asyncio.gather(client.get(DEMO_PATH), client.get(DEMO_PATH, headers=PACKED))
        plain, packed = both
        assert plain.content == packed.content
        assert packed.headers["content-encoding"] == "gzip"
        assert {name: plain.headers[name] for name in HEADERS} == HEADERS
        assert plain.headers["content-type"] == "application/json"
        known = {"if-none-match": packed.headers["etag"], **PACKED}
        again = await client.get(DEMO_PATH, headers=known)
    assert (again.status_code, again.content) == (304, b"")


async def test_without_pages_there_is_none_and_no_prefix_has_one(base: str, upstream: FakeUpstream):
    async with edge(base, ui=False) as client:
        assert (await client.get(DEMO_PATH)).status_code == 404
    async with edge(base) as client:
        assert (await client.get(f"/v1{DEMO_PATH}")).status_code == 404
        assert (await client.head(DEMO_PATH)).status_code == 200
        posted = await client.post(DEMO_PATH, json={})
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET")
    assert not upstream.seen


async def test_the_compressed_form_is_the_same():
    async with (
        edge(None) as client,
        client.stream("GET", DEMO_PATH, headers=PACKED) as answer,
    ):
        packed = b"".join([piece async for piece in answer.aiter_raw()])
        assert gzip.decompress(packed).startswith(b'{"messages":')
