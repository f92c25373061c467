"""Check what is stored of a structured memory, for how long, and its text."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.agents.structured_memory import (
    MAX_DATA_BYTES,
    MAX_DEPTH,
    checked_data,
    leaf_text,
    structured_memory,
    structured_text,
    words_of,
)
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.checked_fields import expiry, lifetime, milliseconds
from memtree.memories.memory import MemoryFields
from memtree.memories.search.vector_bytes import packed_terms
from memtree.text.normal_form import text_hash

# ------------------------------------------------------------------------------------------------
# Check what is stored of a structured memory, and what is refused of its data.


RANDOM = "Zq8vLk2Rm9TxB4wYcN7d"


def nested(depth: int) -> dict[str, Any]:
    data: dict[str, Any] = {"a": 1}
    for _ in range(depth - 1):
        data = {"a": data}
    return data


def test_what_is_stored():
    write = structured_memory(
        "mem_1",
        MemoryFields(
            kind="UserProfile", data={"name": "Ada"}, tags=("x",), thread_id="t", expires=99.0
        ),
        10.0, unique_key=b"k", replaces="mem_0",
    )  # fmt: skip
    new = write.memory
    assert (write.unique_key, write.replaces) == (b"k", "mem_0")
    assert (new.id, new.kind, new.data, new.created) == (
        "mem_1",
        "UserProfile",
        {"name": "Ada"},
        10,
    )
    assert new.text == "user profile\nname: Ada"
    assert (new.text_hash, new.terms) == (text_hash(new.text), packed_terms(new.text))
    assert (new.tags, new.thread_id, new.expires) == (("x",), "t", 99.0)
    assert (new.source_type, new.confidence, new.category) == ("user", 1.0, None)
    assert (
        structured_memory("m", MemoryFields(kind="fact", data={"text": "a"}), 1.0).memory.category
        == "fact"
    )


@pytest.mark.parametrize("data", [None, [], "a", 1, True])
def test_data_is_an_object(data):
    with pytest.raises(BadRequest) as refused:
        checked_data(data, "memories[3].data")
    assert refused.value.param == "memories[3].data"


@pytest.mark.parametrize(
    "data",
    [
        {"a": "\ud800"}, {"\udfff": 1}, {"a": ["b\0"]}, {"\0": 1}, {"a": 2**63},
        {"a": [-(2**63) - 1]}, {"a": float("nan")}, {"a": {"b": float("inf")}}, {1: "a"},
        {"a": object()}, {"a": 10**5_000},
    ],
)  # fmt: skip
def test_what_others_cannot_read_is_refused(data):
    with pytest.raises(BadRequest) as refused:
        structured_memory("m", MemoryFields(kind="K", data=data), 1.0, name="memories[0].data")
    assert refused.value.param == "memories[0].data"


def test_the_widest_values_are_kept():
    data = {"a": 2**63 - 1, "b": -(2**63), "c": 1e308, "d": None, "e": "😀", "f": [True]}
    assert checked_data(data) == data


def test_depth_and_size_have_limits():
    assert checked_data(nested(MAX_DEPTH))
    for deep in (nested(MAX_DEPTH + 1), {"a": [[]] * 3 + [nested(MAX_DEPTH)]}):
        with pytest.raises(BadRequest, match="nested deeper than 32"):
            checked_data(deep)
    full = {"a": "b" * (MAX_DATA_BYTES - len('{"a":""}'))}
    assert checked_data(full) == full
    with pytest.raises(BadRequest, match="16385 bytes"):
        checked_data({"a": full["a"] + "b"})


@pytest.mark.parametrize(
    "data",
    [
        {"note": f"The key is ghp_{RANDOM * 2}"},
        {f"ghp_{RANDOM * 2}": {}},
        {f"ghp_{RANDOM * 2}": 1},
        {"a": [{"b": [f"token: {RANDOM}"]}]},
        {"dbPassword": RANDOM},
        {"password": [RANDOM]},
        {"apiKey": {"value": RANDOM}},
        {"x" * 300 + "password": RANDOM},
    ],
)
def test_a_secret_is_refused_in_names_and_values_and_not_repeated(data):
    with pytest.raises(SecretRejected) as refused:
        structured_memory("m", MemoryFields(kind="K", data=data), 1.0, name="memories[2].data")
    assert refused.value.param == "memories[2].data"
    assert RANDOM not in refused.value.message
    assert (
        structured_memory(
            "m", MemoryFields(kind="K", data=data), 1.0, allow_secrets=True
        ).memory.data
        == data
    )


def test_neighbours_make_no_secret_of_each_other():
    data = {"a": "password", "b": RANDOM, "c": ["the key is", RANDOM], "id": "9fceb02d0ae598e9"}
    assert structured_memory("m", MemoryFields(kind="K", data=data), 1.0).memory.data == data


def test_a_tag_or_a_kind_that_is_a_secret():
    with pytest.raises(SecretRejected):
        structured_memory("m", MemoryFields(kind="K", data={}, tags=(f"ghp_{RANDOM * 2}",)), 1.0)
    with pytest.raises(SecretRejected):
        structured_memory("m", MemoryFields(kind=f"ghp_{RANDOM * 2}", data={}), 1.0)


# ------------------------------------------------------------------------------------------------
# The text of structured memories: words out of names of fields, all values, always the same.


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("favoriteColor", "favorite color"),
        ("favorite_color", "favorite color"),
        ("UserProfile", "user profile"),
        ("HTTPServerURL", "http server url"),
        ("due-date", "due date"),
        ("größteÄnderung", "größte änderung"),
        ("address.city", "address city"),
        ("line2", "line2"),
        ("名前", "名前"),
        ("___", ""),
    ],
)
def test_names_of_fields_become_words(name, words):
    assert words_of(name) == words


def test_nested_values_and_lists_are_told_behind_the_names_they_stand_in():
    data = {
        "homeAddress": {"city": "Oslo", "zip": 150},
        "tags": ["a", "b c", 3, True, None],
        "orders": [{"itemName": "Lamp"}, {"itemName": "Desk", "paid": False}],
        "grid": [[1, 2], [3]],
    }
    assert structured_text("Customer", data).split("\n") == [
        "customer",
        "grid: 1, 2",
        "grid: 3",
        "home address city: Oslo",
        "home address zip: 150",
        "orders item name: Lamp",
        "orders item name: Desk",
        "orders paid: no",
        "tags: a, b c, 3, yes",
    ]


def test_equal_data_has_equal_text_in_whatever_order_it_came():
    one = {"b": {"y": 1, "x": [2]}, "a": "c"}
    other = {"a": "c", "b": {"x": [2], "y": 1}}
    assert structured_text("K", one) == structured_text("K", other)


def test_a_sentence_without_a_schema_is_its_own_text():
    assert structured_text("fact", {"text": " The port is 8090 "}) == "The port is 8090"
    assert structured_text("Reminder", {"text": "Call"}) == "reminder\ntext: Call"
    assert structured_text("fact", {"text": "a", "b": 1}) == "fact\nb: 1\ntext: a"


@pytest.mark.parametrize("data", [{}, {"a": None}, {"a": {}}, {"a": []}, {"a": "  "}])
def test_data_that_says_nothing_leaves_the_kind(data):
    assert structured_text("UserProfile", data) == "user profile"
    assert structured_text("___", data) == "___"
    assert structured_text("fact", {"text": "  "}) == "fact"


def test_no_text_is_longer_than_asked_for():
    data = {f"f{at:04}": "word " * 20 for at in range(500)}
    text = structured_text("K", data, 1_000)
    assert len(text) <= 1_000
    assert text.startswith("k\nf0000: word")
    assert len(structured_text("K" * 5_000, {}, 300)) <= 300
    assert structured_text("fact", {"text": "a" * 500}, 100) == "a" * 100


@pytest.mark.slow
def test_a_deep_value_does_not_end_the_stack():
    data = {"a": None}
    for _ in range(50_000):
        data = {"a": data}
    assert structured_text("K", data) == "k"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "yes"), (0, "0"), (-1.5, "-1.5"), (1e300, "1e+300"), ("a\n b", "a b")],
)
def test_values_as_words(value, text):
    assert leaf_text(value) == text


# ------------------------------------------------------------------------------------------------
# How long memories are kept: every combination of what the request and the memory say.


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
