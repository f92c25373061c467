"""Items that are read when they are looked at, once."""

from __future__ import annotations

from memtree.dialects.openai_responses.input_item import INPUT, InputItems, ItemCache
from memtree.dialects.translated_messages import raw_items
from memtree.wire import json_body

BODY = b'{"input": [{"role":"user","content":"a"}]}'


class Counted(ItemCache):
    kept = 0

    def put(self, *given):
        self.kept += 1
        super().put(*given)


def items(cache: ItemCache, tenant: str = "t") -> InputItems:
    raws = raw_items(json_body.split(BODY), INPUT)
    assert raws is not None
    return InputItems(raws, tenant, cache)


def test_an_item_is_read_once():
    cache = Counted(1)
    found = items(cache)
    assert cache.kept == 0
    assert found[0] is found[0]
    assert items(cache)[0] is found[0]
    assert cache.kept == 1
    assert items(cache, "other")[0] is not found[0]
