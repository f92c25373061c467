"""The dialect tells what the route has to know of it."""

from __future__ import annotations

from memtree.config import Settings
from memtree.dialects.anthropic_messages.posted_request import Cache, PostedMessages
from memtree.dialects.translated_messages import raw_items
from memtree.dialects.translation_cache import TranslationCache
from memtree.wire import json_body
from memtree_proxy.dialects.anthropic_messages.dialect import AnthropicMessages


def test_a_sign_of_life_is_an_event_that_clients_know():
    dialect = AnthropicMessages(Settings())
    assert dialect.sign == b'event: ping\ndata: {"type": "ping"}\n\n'
    assert (dialect.name, dialect.history) == ("messages", "messages")


def test_tenants_share_nothing_that_was_read():
    dialect = AnthropicMessages(Settings())
    body = json_body.split(b'{"messages":[{"role":"assistant","content":"a"}]}')
    one, other = (dialect.read(body, tenant).request.posted[0] for tenant in "ab")
    assert one == other
    assert one is not other
    assert dialect.read(body, "a").request.posted[0] is one
    dialect.forget()
    assert dialect.read(body, "a").request.posted[0] is not one


def test_a_message_that_is_looked_at_behind_a_deletion_is_not_kept():
    cache: Cache = TranslationCache(1)
    raws = raw_items(json_body.split(b'{"messages":[{"role":"user","content":"a"}]}'), "messages")
    assert raws
    began = PostedMessages(raws, "t", cache)
    cache.forget()
    assert (began[0].role, cache.nbytes) == ("user", 0)
    assert PostedMessages(raws, "t", cache)[0].role == "user"
    assert cache.nbytes
