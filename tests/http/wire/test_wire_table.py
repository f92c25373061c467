"""Whoever calls a route notices no change: what each field refuses, and what is described, stay.

What differs on purpose is listed in the change that makes the files anew (`wire_table.py`).
"""

from __future__ import annotations

from tests.http.wire.wire_table import DESCRIBED, TABLE, described, digests, faults


async def test_every_route_refuses_what_it_did_and_with_the_same_words():
    assert (await faults()).splitlines() == TABLE.read_text().splitlines()


def test_the_document_and_the_tools_say_what_they_did():
    assert digests(described()).splitlines() == DESCRIBED.read_text().splitlines()
