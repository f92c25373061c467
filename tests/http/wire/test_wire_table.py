"""Whoever calls a route notices no change: what each field refuses stays.

What differs on purpose is listed in the change that makes the files anew (`wire_table.py`).
"""

from __future__ import annotations

from tests.http.wire.wire_table import TABLE, faults


async def test_every_route_refuses_what_it_did_and_with_the_same_words():
    assert (await faults()).splitlines() == TABLE.read_text().splitlines()
