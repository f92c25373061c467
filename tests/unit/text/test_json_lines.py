"""Lines of files that were cut, glued together or left with NULs: what can be read is read."""

from __future__ import annotations

import json

import pytest

from memtree.errors import BadRequest
from memtree.text.json_lines import MOST_NOTES, as_utf8, records

LINES = [
    {
        "type": "user",
        "uuid": f"n{at}",
        "message": {"content": [{"type": "text", "text": '{"x": "'}]},
    }
    for at in range(4)
]
WRITTEN = [json.dumps(line) for line in LINES]
STUB = '{"type":"link","n":{"a":["x",{"b":1.25,"c":true}]},"path":"C:\\\\x\\u00e9"}'


def read(*lines: str, end: str = "\n") -> tuple[list[str], tuple[str, ...]]:
    """Return the ids of the records that are read, and the notes."""
    found = records((end.join(lines) + end).encode())
    return [line.get("uuid", "stub") for line in found.values], found.notes


@pytest.mark.parametrize("cut", range(1, len(STUB)))
def test_a_stub_in_front_of_a_record_costs_itself(cut: int) -> None:
    ids, notes = read(WRITTEN[0], STUB[:cut] + WRITTEN[1], WRITTEN[2])
    assert ids == ["n0", "n1", "n2"]
    assert [note.split(",")[0] for note in notes] == ["line 2"]


@pytest.mark.parametrize("cut", range(1, len(WRITTEN[1]), 3))
def test_half_a_record_is_none_and_hides_none(cut: int) -> None:
    half = WRITTEN[1][:cut]
    assert read(WRITTEN[0], half + WRITTEN[2], WRITTEN[3])[0] == ["n0", "n2", "n3"]
    ids, notes = read(WRITTEN[0], WRITTEN[2], half, end="\r\n")
    assert (ids, len(notes)) == (["n0", "n2"], 1)


@pytest.mark.parametrize(
    ("line", "found", "told"),
    [
        (WRITTEN[1] + WRITTEN[2], ["n1", "n2"], "line 2: 2 records on one line, split"),
        (f" {WRITTEN[1]} , \t", ["n1"], ""),
        ("\ufeff" + WRITTEN[1], ["n1"], ""),
        ("\0" * 9 + WRITTEN[1] + "\0\0", ["n1"], ""),
        ("\0" * 4096, [], ""),
        ("", [], ""),
        (WRITTEN[1].replace("user", "us\0er"), [], "line 2, column 13: not valid JSON: Inv"),
        ('{"a": NaN, "b": "\\ud800"}', ["stub"], ""),
        ("[1]", [], "line 2: must be an object; skipped"),
        (" ,\ufeff, ", [], "line 2: must be an object; skipped"),
        ("5" * 5_000, [], "line 2: a number has too many digits; skipped"),
        ("[" * 100_000, [], "line 2: nested too deeply; skipped"),
        ('{"uuid": "the words of somebody"', [], "line 2, column 33: not valid JSON: "),
    ],
    ids=range(13),
)  # fmt: skip
def test_a_line_is_read_or_named(line: str, found: list[str], told: str) -> None:
    ids, notes = read(WRITTEN[0], line, WRITTEN[3])
    assert ids == ["n0", *found, "n3"]
    assert len(notes) == bool(told)
    assert "".join(notes).startswith(told)
    assert "somebody" not in "".join(notes)


def test_bytes_that_are_no_text_cost_their_line() -> None:
    found = records(b'{"a": 1}\n{"b": "\xff"}\n{"c": 3}')
    assert found.values == [{"a": 1}, {"c": 3}]
    assert found.notes == ("line 2: not text in UTF-8, byte 7; skipped",)


def test_many_notes_are_counted() -> None:
    found = records(b"{\n" * 100 + b"{}")
    assert (len(found.values), found.faulty) == (1, 100)
    assert found.notes[MOST_NOTES:] == ("and 80 more like these",)


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_any_encoding_of_unicode_is_read(encoding: str) -> None:
    assert as_utf8('{"a": "té"}\n'.encode(encoding)) == '{"a": "té"}\n'.encode()
    assert as_utf8(b"\0" * 512 + b"{}") == b"{}"
    assert as_utf8(b"") == b""


@pytest.mark.parametrize("raw", [b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xff\xfe\0\0a"])
def test_a_mark_that_does_not_fit_is_an_error(raw: bytes) -> None:
    with pytest.raises(BadRequest, match=r"broken text in UTF-(16|32)"):
        as_utf8(raw)
