"""Drawings say what the imports say; `make limits` compares the page."""

from __future__ import annotations

from scripts.rooms import drawn, imported, rooms

SOURCES = {
    "m.__init__": '"""The whole."""\nfrom m.top import run\n',
    "m.top": '"""Runs it. And more."""\nfrom m.low import words\nfrom m.low.words import WORDS\n',
    "m.low.__init__": '"""What others\n stand on."""\n',
    "m.low.words": "import m.low.signs\nWORDS = 1\n",
    "m.low.signs": "",
    "m.one": "from m import two\n",
    "m.two": "from m.one import ONE\n",
}
ARROWS = {name: set(imported(text, SOURCES)) for name, text in SOURCES.items()}


def test_imports_are_of_modules_and_of_names_in_them():
    assert ARROWS["m.top"] == {"m.low.words"}
    assert ARROWS["m.low.words"] == {"m.low.signs"}
    assert ARROWS["m.one"] == {"m.two"}


def test_a_room_stands_above_what_it_imports_and_a_circle_shares_a_floor():
    found = {room.name: room for room in rooms("m", SOURCES, ARROWS)}
    assert {name: room.floor for name, room in found.items()} == {
        "low/": 1, "top.py": 2, "one.py": 1, "two.py": 1,
    }  # fmt: skip
    assert found["low/"].purpose == "What others stand on"
    assert found["top.py"].purpose == "Runs it"


def test_the_list_counts_arrows_and_those_of_circles():
    text = drawn("m", rooms("m", SOURCES, ARROWS))
    assert "Rooms: 4; floors: 2; arrows: 3, in circles: 2." in text
    assert "- 2 `top.py`: Runs it" in text
