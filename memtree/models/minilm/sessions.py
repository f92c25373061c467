"""onnxruntime sessions as MiniLM needs them: one thread a run, products of integers that are exact.

Some processors add up products of uint8 and int8 in 16 bits, which overflow. onnxruntime knows a
way around (uint8 by uint8), but takes it on every x86 processor that it is asked for, also where
nothing overflows and the detour takes 1.45 times as long. So a product that would overflow is
computed first.
"""

from __future__ import annotations

import numpy as np
import onnxruntime

from memtree.models.minilm.onnx_format import Graph

_TERMS, _COLUMNS = 64, 16
_LARGEST, _WEIGHT = 255, 127  # of uint8 and int8


class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
    """A session that does not keep the bytes that it was made of, 11 MB: onnxruntime would make it
    anew from them where a graphics card fails."""

    def __init__(self, graph: bytes, options: onnxruntime.SessionOptions) -> None:
        super().__init__(graph, options, providers=["CPUExecutionProvider"])
        self._model_bytes = None


def open_session(graph: bytes) -> Session:
    """`graph`: an ONNX file's bytes."""
    return _session(graph, detour=overflows())


def overflows(*, detour: bool = False) -> bool:
    """Return True if a sum of the largest products comes out wrong on this processor."""
    probe = Graph()
    matrix = probe.weight("matrix", np.full((_TERMS, _COLUMNS), _WEIGHT, np.int8))
    scale = probe.weight("scale", np.ones(_COLUMNS, np.float32))
    probe.node("DynamicQuantizeMatMul", ["row", matrix, scale], "sum", domain="com.microsoft")
    data = probe.model(("row", [1, _TERMS]), ("sum", [1, _COLUMNS]))
    row = np.full((1, _TERMS), _LARGEST, np.float32)
    row[0, 0] = 0  # with 0 and 255 in it a row is quantised as it is
    (sums,) = _session(data, detour=detour).run(None, {"row": row})
    return bool((sums != (_TERMS - 1) * _LARGEST * _WEIGHT).any())


def _session(graph: bytes, *, detour: bool) -> Session:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.x64quantprecision", str(int(detour)))
    # With runs of one text the arena stays small and keeps the heap whole.
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    options.log_severity_level = 3  # errors only: warnings name nothing a reader could change
    return Session(graph, options)
