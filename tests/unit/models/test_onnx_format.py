"""Check what is written is read again, by us and by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from memtree.models.minilm_graph import Graph, read_weights


def run(data: bytes, **inputs: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, inputs)
    return result


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([[-128], [127]], np.int8),
        np.array([2**40, -1]),
        np.array(True),
        np.zeros((300, 0), np.float32),
    ],
)
def test_weights_come_back(array: np.ndarray):
    graph = Graph()
    assert graph.weight("a name", array) == "a name"
    data = graph.model(("x", [1]), ("y", [1]))
    (found,) = read_weights(memoryview(data)).values()
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape


def test_sizes_of_more_than_a_byte_come_back():
    graph = Graph()
    graph.weight("long", np.arange(70_000, dtype=np.int64))
    weights = read_weights(memoryview(graph.model(("x", [1]), ("y", [1]))))
    assert weights["long"][-1] == 69_999


def test_onnxruntime_reads_nodes_with_settings_of_each_kind():
    graph = Graph()
    graph.weight("double", np.array([[2.0, 0.0], [0.0, 2.0]], np.float32))
    graph.node("MatMul", ["x", "double"], "doubled")
    graph.node("ReduceMean", ["doubled"], "mean", axes=[1], keepdims=0)  # a list and a number
    graph.node("Elu", ["mean"], "y", alpha=0.5)
    data = graph.model(("x", ["rows", 2]), ("y", ["rows"]))
    x = np.array([[1.0, 2.0], [-3.0, -4.0], [0.0, 0.0]], np.float32)
    np.testing.assert_allclose(run(data, x=x), [3.0, 0.5 * np.expm1(-7.0), 0.0], rtol=1e-6)


def test_an_input_may_be_left_out_and_a_node_have_several_outputs():
    graph = Graph()
    sizes = graph.weight("sizes", np.array([1, 2]))
    assert graph.node("Split", ["x", sizes], "first", "second", axis=1) == "first"
    top = graph.weight("top", np.array(5.0, np.float32))
    graph.node("Clip", ["second", "", top], "y")
    data = graph.model(("x", [1, 3]), ("y", [1, 2]))
    np.testing.assert_array_equal(run(data, x=np.array([[9, 8, -7]], np.float32)), [[5, -7]])
