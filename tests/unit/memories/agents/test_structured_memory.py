"""Check what is stored of a structured memory, and what is refused of its data."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.agents.structured_memory import (
    MAX_DATA_BYTES,
    MAX_DEPTH,
    checked_data,
    structured_memory,
)
from memtree.memories.memory import MemoryFields
from memtree.memories.search.vector_bytes import packed_terms
from memtree.text.normal_form import text_hash

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
