"""The dialect as the routes see it."""

from __future__ import annotations

from memtree.config import Settings
from memtree.dialects.openai_responses.input_item import InputItems, ItemCache, ItemKind
from memtree.dialects.translated_messages import raw_items
from memtree.wire import json_body
from memtree_proxy.dialects.openai_responses.dialect import OpenAIResponses


def test_it_reads_bodies_and_forgets_them():
    dialect = OpenAIResponses(Settings())
    body = json_body.split(b'{"input":"hi","max_output_tokens":5}')
    (message,) = dialect.read(body, "t").messages
    assert (message.role, message.text) == ("user", "hi")
    dialect.forget()
    assert dialect.read(body, "t").messages[0].raw == message.raw


def test_an_item_that_is_looked_at_behind_a_deletion_is_not_kept():
    cache = ItemCache(1)
    raws = raw_items(json_body.split(b'{"input":[{"role":"user","content":"a"}]}'), "input")
    assert raws
    began = InputItems(raws, "t", cache)
    cache.forget()
    assert (began[0].kind, cache.nbytes) == (ItemKind.USER, 0)
    assert InputItems(raws, "t", cache)[0].kind is ItemKind.USER
    assert cache.nbytes
