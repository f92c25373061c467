"""The pictures of the docs: all there, of one size, and small. `make pictures` makes them."""

from __future__ import annotations

import struct

import pytest

from tests.browser.pictures import FOLDER, PICTURES, SIZE


@pytest.mark.parametrize("name", [name for name, _, _ in PICTURES])
def test_a_picture_is_there_and_small(name: str):
    picture = (FOLDER / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", picture[16:24]) == SIZE
    assert len(picture) < 150_000


def test_there_are_no_others():
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(name for name, _, _ in PICTURES)
