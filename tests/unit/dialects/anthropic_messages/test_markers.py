"""The marker of the memory text among those of the client."""

from __future__ import annotations

import json

import pytest

from memtree.dialects.anthropic_messages import markers

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def block(marker) -> dict:
    return {"type": "text", "text": "x", "cache_control": marker}


def system(*found) -> bytes:
    return json.dumps([block(one) for one in found]).encode()


def message(*found) -> bytes:
    return json.dumps({"role": "user", "content": [block(one) for one in found]}).encode()


@pytest.mark.parametrize(
    ("marker", "before", "behind", "top", "fitted"),
    [
        (None, [], [], None, None),
        (SHORT, [], [], None, SHORT),
        (SHORT, [SHORT], [SHORT], None, SHORT),
        (LONG, [LONG], [SHORT], None, LONG),
        # four at most, the one beside the messages counted
        (SHORT, [SHORT, SHORT], [SHORT], None, SHORT),
        (SHORT, [SHORT, SHORT], [SHORT, SHORT], None, None),
        (SHORT, [SHORT, SHORT], [SHORT], SHORT, None),
        # an hour never behind five minutes
        (LONG, [SHORT], [SHORT], None, SHORT),
        (SHORT, [LONG], [LONG], None, LONG),
        (SHORT, [], [], LONG, LONG),
        (LONG, [SHORT], [LONG], None, None),
    ],
)
def test_a_marker_is_fitted_between_the_others_or_left_out(marker, before, behind, top, fitted):
    made = markers.fitted(marker, [system(*before)], [message(*behind)], top)
    assert made == fitted


def test_markers_in_results_count_and_what_only_looks_like_one_does_not():
    inner = {"type": "tool_result", "tool_use_id": "a", "content": [block(SHORT)] * 4}
    raw = json.dumps({"role": "user", "content": [inner]}).encode()
    assert markers.fitted(SHORT, [], [raw], None) is None
    call = {"type": "tool_use", "id": "a", "name": "n", "input": {"cache_control": LONG}}
    raw = json.dumps({"role": "assistant", "content": [call] * 5}).encode()
    assert markers.fitted(SHORT, [], [raw], None) == SHORT
    said = json.dumps({"role": "user", "content": '"cache_control"'}).encode()
    assert markers.fitted(SHORT, [b""], [said], None) == SHORT
