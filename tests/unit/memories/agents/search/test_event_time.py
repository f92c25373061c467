"""When what a memory tells of happens."""

from __future__ import annotations

import pytest

from memtree.memories.agents.search.mentions import MOST_FIELDS, when

MORNING = 1_772_879_400.0  # 2026-03-07T10:30:00Z
DAY = 1_772_841_600.0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"when": "2026-03-07T10:30:00Z"}, MORNING),
        ({"starts_at": "2026-03-07 11:30+01:00"}, MORNING),
        ({"Due-Date": "2026-03-07"}, DAY),
        ({"title": "x", "deadline": "2026-03-07", "start": "2026-03-07T10:30Z"}, MORNING),
        ({"date": "next Friday", "due": "2026-03-07"}, DAY),
        ({"createdAt": "2026-03-07"}, None),
        ({"expiresAt": "2026-03-07"}, None),
        ({"date": 1_772_879_400}, None),
        ({"date": None}, None),
        ({"date": "2026-13-40"}, None),
        ({"date": "2026-03-07" + " " * 100}, None),
        ({"event": {"date": "2026-03-07"}}, None),
        ({"text": "On 2026-03-07"}, None),
        ({}, None),
        (None, None),
        ({**{f"f{at}": at for at in range(MOST_FIELDS)}, "date": "2026-03-07"}, None),
    ],
)
def test_a_field_of_the_data_says_it_in_iso_form(data, expected):
    assert when(None, data) == expected


def test_what_was_said_counts_more_than_a_field():
    assert when(1.0, {"date": "2026-03-07"}) == 1.0
    assert when(0.0, None) == 0.0
