from __future__ import annotations

import pytest

from memtree.memories.transfer.file_items import FileMemory
from memtree.memories.transfer.foreign_formats import list_items, list_line

DAY = 1772841600.0


@pytest.mark.parametrize(
    ("line", "text", "created"),
    [
        ("Lives in Graz.", "Lives in Graz.", None),
        ("  - Lives in Graz.  ", "Lives in Graz.", None),
        ("* Lives in Graz.", "Lives in Graz.", None),
        ("• Lives in Graz.", "Lives in Graz.", None),
        ("12. Lives in Graz.", "Lives in Graz.", None),
        ("(3) Lives in Graz.", "Lives in Graz.", None),
        ("- [x] Lives in Graz.", "Lives in Graz.", None),
        ("1. [2026-03-07]. Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07] - Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07]: Lives in Graz.", "Lives in Graz.", DAY),
        ("1.[2026-03-07] Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07 10:30] Lives in Graz.", "Lives in Graz.", DAY + 37_800),
        ("[2026-13-07] Lives in Graz.", "Lives in Graz.", None),
        ("[maybe] Lives in Graz.", "[maybe] Lives in Graz.", None),
        ("3.5 litres of tea a day", "3.5 litres of tea a day", None),
        ("-5 degrees is too cold", "-5 degrees is too cold", None),
        ("2026 is the year of the move", "2026 is the year of the move", None),
    ],
)
def test_marks_and_dates_are_no_part_of_a_text(line: str, text: str, created: float | None):
    assert list_line(line) == (text, created)


def test_each_line_with_a_word_is_a_memory():
    raw = "# Saved memories\r\n\r\n- Lives in Graz.\r\n---\n```\n  \n2. Likes tea 🍵\n".encode()
    raw += b"\xff\xfe\n* \n"
    first, second, broken = list_items(raw)
    assert first == FileMemory(3, "Lives in Graz.")
    assert second == FileMemory(7, "Likes tea 🍵")
    assert (broken.line, getattr(broken, "reason", "")) == (8, "encoding")
