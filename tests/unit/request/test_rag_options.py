"""Check which passages a chat asks for: each field strictly, and only where it asks at all."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memtree.errors import BadRequest
from memtree.wire import json_body
from memtree_proxy.request import rag_options
from memtree_proxy.request.rag_options import RagOptions


def asked(**body: Any) -> RagOptions | None:
    return rag_options.of(json_body.split(msgspec.json.encode(body)))


def test_the_documented_example():
    options = {
        "topK": 5,
        "scoreThreshold": 0.7,
        "includeMetadata": True,
        "type": "custom",
        "namespace": "my_namespace",
    }
    assert asked(use_rag=True, rag_options=options) == RagOptions(
        "my_namespace", 5, 0.7, metadata=True, type="custom"
    )


@pytest.mark.parametrize("options", [None, {}, {"topK": None, "type": None, "namespace": None}])
def test_what_is_not_said_is_as_by_default(options: Any):
    assert asked(use_rag=True, rag_options=options) == RagOptions(
        "default", 5, 0.5, metadata=False, type=None
    )


@pytest.mark.parametrize("body", [{}, {"use_rag": False}, {"use_rag": None}])
def test_who_does_not_ask_gets_nothing(body: dict[str, Any]):
    assert asked(**body) is None
    assert asked(**body, rag_options={"namespace": "n"}) is None


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"topK": 0}, {"top_k": 1}),
        ({"topK": -3}, {"top_k": 1}),
        ({"topK": 10**30}, {"top_k": 20}),
        ({"topK": "7"}, {"top_k": 7}),
        ({"topK": 4.0}, {"top_k": 4}),
        ({"scoreThreshold": 3}, {"threshold": 1.0}),
        ({"scoreThreshold": -1.5}, {"threshold": 0.0}),
        ({"scoreThreshold": 0}, {"threshold": 0.0}),
        ({"scoreThreshold": "0.25"}, {"threshold": 0.25}),
        ({"scoreThreshold": "25e-2"}, {"threshold": 0.25}),
        ({"scoreThreshold": "1e9999"}, {"threshold": 1.0}),
        ({"type": ""}, {"type": None}),
        ({"unknown": object}, {}),
    ],
)
def test_numbers_out_of_range_are_clamped(given: dict[str, Any], read: dict[str, Any]):
    given = {name: "x" if value is object else value for name, value in given.items()}
    assert asked(use_rag=True, rag_options=given) == RagOptions(**read)


@pytest.mark.parametrize("use_rag", [True, False])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("topK", "many"), ("topK", 2.5), ("topK", True), ("topK", [5]),
        ("scoreThreshold", "high"), ("scoreThreshold", True), ("scoreThreshold", {}),
        ("scoreThreshold", "1e"), ("scoreThreshold", "0.5\n"), ("scoreThreshold", "1" * 41),
        ("scoreThreshold", ".5"), ("scoreThreshold", "nan"), ("scoreThreshold", "inf"),
        ("includeMetadata", "yes"), ("includeMetadata", 1),
        ("type", 3), ("type", ["custom"]),
        ("namespace", 3), ("namespace", ""), ("namespace", "a b"), ("namespace", "a" * 201),
        ("namespace", "a/b"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_refused_by_its_name(name: str, value: Any, use_rag: bool):
    with pytest.raises(BadRequest) as refused:
        asked(use_rag=use_rag, rag_options={name: value})
    assert refused.value.param == f"rag_options.{name}"
    assert refused.value.param in refused.value.message


@pytest.mark.parametrize("value", [1, "true", [], {}])
def test_the_switch_is_a_boolean(value: Any):
    with pytest.raises(BadRequest) as refused:
        asked(use_rag=value)
    assert refused.value.param == "use_rag"


@pytest.mark.parametrize("value", [[], "default", 5, True])
def test_options_are_an_object(value: Any):
    with pytest.raises(BadRequest) as refused:
        asked(use_rag=True, rag_options=value)
    assert refused.value.param == "rag_options"
