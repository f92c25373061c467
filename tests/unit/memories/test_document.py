"""Check what is refused of a document, and what is masked in it."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.errors import BadRequest, MemTreeError, RequestTooLarge, SecretRejected
from memtree.memories.document import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_METADATA_BYTES,
    checked,
    depth_beyond,
)

KEY = "ghp_" + "a1B2c3" * 6


def nested(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("error", "param", "fields"),
    [
        (BadRequest, "id", {"id_": ""}),
        (BadRequest, "id", {"id_": "a b"}),
        (BadRequest, "id", {"id_": "a" * 201}),
        (BadRequest, "text", {"text": " \n"}),
        (BadRequest, "text", {"text": "a\0b"}),
        (BadRequest, "text", {"text": "a\ud800"}),
        (RequestTooLarge, "text", {"text": "é" * (MAX_BYTES // 2) + "a"}),
        (BadRequest, "type", {"type_": ""}),
        (BadRequest, "type", {"type_": "t" * 201}),
        (BadRequest, "metadata", {"metadata": {"a": "b" * MAX_METADATA_BYTES}}),
        (BadRequest, "metadata", {"metadata": nested(MAX_DEPTH + 1)}),
        (BadRequest, "metadata", {"metadata": {"a": 1 << 70}}),
        (BadRequest, "metadata", {"metadata": {"a": "\ud800"}}),
        (SecretRejected, "metadata", {"metadata": {KEY: 1}}),
        (SecretRejected, "type", {"type_": KEY}),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(
    error: type[MemTreeError], param: str | None, fields: dict[str, Any]
):
    given = {"id_": "a.md", "text": "Text", "type_": None, "metadata": None} | fields
    with pytest.raises(error) as refused:
        checked(**given)
    assert refused.value.param == param
    assert KEY not in refused.value.message


@pytest.mark.slow
def test_the_largest_document_and_the_deepest_metadata_are_kept():
    text = "a" * MAX_BYTES
    document = checked("a" * 200, text, "t" * 200, nested(MAX_DEPTH))
    assert document.text == text
    assert document.metadata == nested(MAX_DEPTH)
    assert document.masked == 0


def test_secrets_are_masked_and_counted():
    document = checked(
        "a.md",
        f"Deploy with {KEY}.\nPort 8090.\n",
        None,
        {"owner": "Ada", "keys": [KEY], "password": "x9Kq2LmZ8Rt4Vb7N", "deep": {"a": KEY}},
    )
    assert document.text == "Deploy with [secret].\nPort 8090.\n"
    assert document.metadata == {
        "owner": "Ada",
        "keys": ["[secret]"],
        "password": "[secret]",
        "deep": {"a": "[secret]"},
    }
    assert document.masked == 4


def test_the_type_is_the_one_in_the_metadata_where_none_is_given():
    assert checked("a", "T", None, {"type": "manual"}).type == "manual"
    assert checked("a", "T", "faq", {"type": "manual"}).type == "faq"
    for other in ({"type": 3}, {"type": ""}, {"type": ["manual"]}, {}):
        assert checked("a", "T", None, other).type is None


def test_documents_that_say_the_same_have_one_digest():
    one = checked("a", "Text", "t", {"a": 1, "b": [2]})
    assert checked("b", "Text", "t", {"b": [2], "a": 1}).digest == one.digest
    others = [
        checked("a", "Text.", "t", {"a": 1, "b": [2]}),
        checked("a", "Text", "u", {"a": 1, "b": [2]}),
        checked("a", "Text", "t", {"a": 1, "b": [3]}),
        checked("a", "Text", None, {"a": 1, "b": [2]}),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ({}, 1), ([], 1), ({"a": [1]}, 2), ([[], [{"a": {}}]], 4)]
)
def test_depth(value: object, depth: int):
    assert depth_beyond(value, depth - 1) if depth else not depth_beyond(value, 0)
    assert not depth_beyond(value, depth)
