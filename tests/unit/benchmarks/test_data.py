"""Readers of the data sets, on files of the same form written here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import Data, MissingData, Needle

TALK = {
    "sample_id": "a talk",
    "conversation": {
        "speaker_a": "Ida",
        "speaker_b": "Ole",
        "session_2_date_time": "02.03.2024, 10:00:00",
        "session_2": [{"speaker": "Ole", "dia_id": "D2:1", "text": "It was fun."}],
        "session_1_date_time": "01.03.2024, 10:00:00",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "I row.", "blip_caption": "a boat"},
            {"speaker": "Ole", "dia_id": "D1:9000", "text": "My knee hurts."},
        ],
    },
    "qa": [
        {"question": "Who rows?", "answer": "Ida", "evidence": ["D1:1; D2:01"], "category": 1},
        {"question": "Stairs again.", "answer": "", "evidence": ["D1:9000"], "category": 2},
        {"question": "Nobody knows.", "evidence": ["D7:1"], "category": 3},
    ],
}


def _data(folder: Path, name: str, content: Any) -> Data:
    with gzip.open(folder / f"{name}.json.gz", "wt") as file:
        json.dump(content, file)
    return Data(folder)


@pytest.mark.parametrize(
    ("name", "file", "kinds"),
    [
        ("realtalk", "realtalk_dev", ["multi-hop", "temporal"]),
        ("plus", "locomo_plus_dev", ["causal", "state"]),
    ],
)
def test_talks_are_read_session_by_session(tmp_path, name, file, kinds):
    (talk,) = _data(tmp_path, file, [TALK]).talks(name)
    assert [(m.role, m.text) for m in talk.messages] == [
        ("user", "[01.03.2024, 10:00:00]\nIda: I row. [photo: a boat]"),
        ("assistant", "Ole: My knee hurts."),
        ("assistant", "[02.03.2024, 10:00:00]\nOle: It was fun."),
    ]
    assert [probe.kind for probe in talk.probes] == kinds
    assert talk.probes[0].evidence == {"user": ("I row.",), "assistant": ("It was fun.",)}
    assert talk.probes[1].evidence == {"assistant": ("My knee hurts.",)}


def test_hard_needles_are_read_with_their_roles(tmp_path):
    (tmp_path / "needles_hard.json").write_text('[["tool", "disk full", "What ran out?"]]')
    assert Data(tmp_path).hard_needles() == [Needle("tool", "disk full", "What ran out?")]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingData, match=r"needles_hard\.json"):
        Data(tmp_path).hard_needles()
