"""How long memories are kept: every combination of what the request and the memory say."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.errors import BadRequest
from memtree.memories.agents.lifetime import expiry, lifetime, milliseconds

NOW = 1_700_000_000.0
DAY, AT = 86_400.0, 1_735_689_600_000
# What one level may say, when it ends by that (None: it says nothing), or that it is refused.
REFUSED = "refused"
LEVELS: list[tuple[dict[str, Any], Any]] = [
    ({}, None),
    ({"ttl": None}, None),
    ({"expiresAt": None}, None),
    ({"ttl": None, "expiresAt": None}, None),
    ({"ttl": "1h"}, NOW + 3_600),
    ({"ttl": "2d", "expiresAt": None}, NOW + 2 * DAY),
    ({"expiresAt": AT}, AT / 1_000),
    ({"ttl": None, "expiresAt": AT + 1}, (AT + 1) / 1_000),
    ({"ttl": "1h", "expiresAt": AT}, REFUSED),
    ({"ttl": "1h", "expiresAt": 0}, REFUSED),
]


@pytest.mark.parametrize(("asked", "default"), LEVELS)
def test_what_a_memory_says_counts_before_what_its_request_says(asked, default):
    for given, own in LEVELS:
        check_levels(asked, default, given, own)


def check_levels(asked, default, given, own) -> None:

    def ends() -> float | None:
        otherwise = lifetime(asked, NOW)
        return lifetime(given, NOW, otherwise=otherwise, place="memories[0].")

    if REFUSED in (default, own):
        with pytest.raises(BadRequest) as refused:
            ends()
        assert refused.value.param == ("ttl" if default == REFUSED else "memories[0].ttl"), given
    else:
        assert ends() == (default if own is None else own), given


@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [("1s", 1), ("90s", 90), ("5m", 300), ("24h", DAY), ("7d", 7 * DAY), ("2w", 14 * DAY),
     ("007d", 7 * DAY)],
)  # fmt: skip
def test_units(ttl, seconds):
    assert lifetime({"ttl": ttl}, NOW) == NOW + seconds


@pytest.mark.parametrize(
    "ttl", ["", "1", "h", "1 h", "1H", "-1h", "1.5h", "1y", "1h ", "0s", "٣d", "1h\n",
            "9" * 11 + "s", "9999w", 24, True, ["1h"], {}]
)  # fmt: skip
def test_what_is_no_duration(ttl):
    with pytest.raises(BadRequest) as refused:
        lifetime({"ttl": ttl}, NOW, place="memories[7].")
    assert refused.value.param == "memories[7].ttl"


@pytest.mark.parametrize("value", [True, False, "1735689600000", "soon", [], {}, float("nan")])
def test_what_is_no_time(value):
    with pytest.raises(BadRequest, match="must be a number of milliseconds"):
        expiry(value, NOW)


@pytest.mark.parametrize("value", [0, -1, 1_735_689_600, 99_999_999_999, -1e300, float("-inf")])
def test_seconds_are_noticed(value):
    with pytest.raises(BadRequest, match=r"milliseconds.*looks like seconds") as refused:
        lifetime({"expiresAt": value}, NOW, place="memories[0].")
    assert refused.value.param == "memories[0].expiresAt"


@pytest.mark.parametrize("value", [NOW * 1_000, NOW * 1_000 - 1, 100_000_000_000])
def test_what_is_past_is_refused(value):
    with pytest.raises(BadRequest, match="must lie in the future"):
        expiry(value, NOW)


@pytest.mark.parametrize("value", [253_402_300_800_000, 1e300, float("inf"), 10**400])
def test_what_no_calendar_has_is_refused(value):
    with pytest.raises(BadRequest, match="before the year 10000"):
        expiry(value, NOW)


@pytest.mark.parametrize("value", [AT, AT + 1, AT + 999, 253_402_300_799_999, 1.7356896e12])
def test_a_time_comes_out_as_it_was(value):
    assert milliseconds(expiry(value, NOW)) == value
