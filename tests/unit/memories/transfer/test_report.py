from __future__ import annotations

from memtree.memories.transfer.file_items import (
    BROKEN,
    CUT_OFF,
    MOST_LINES,
    ImportReport,
    LineResult,
    LineStatus,
)

IMPORTED = LineResult(1, LineStatus.IMPORTED, id="mem_1")


def built() -> ImportReport:
    return ImportReport(dry_run=True, keep_ids=False, format="mem0")


def test_every_line_is_counted_once():
    builder = built()
    for result in (
        LineResult(4, LineStatus.INVALID, "json", "not JSON"),
        IMPORTED,
        LineResult(2, LineStatus.IMPORTED, id="mem_2", tainted=True),
        LineResult(3, LineStatus.DUPLICATE, id="mem_1"),
        LineResult(5, LineStatus.SKIPPED, "expired"),
        LineResult(6, LineStatus.REFUSED, "secret"),
        LineResult(7, LineStatus.REFUSED, "secret"),
    ):
        builder.add(result)
    report = builder
    assert (report.read, report.imported, report.skipped, report.failed) == (7, 2, 2, 3)
    assert report.tainted == 1
    assert report.reasons == {"duplicate": 1, "expired": 1, "json": 1, "secret": 2}
    assert [result.line for result in report.lines] == [1, 2, 3, 4, 5, 6, 7]
    assert (report.format, report.dry_run, report.complete) == ("mem0", True, True)
    assert not report.truncated


def test_problems_have_a_room_of_their_own():
    builder = built()
    for at in range(3 * MOST_LINES):
        builder.add(IMPORTED._replace(line=at + 1))
    builder.add(LineResult(9_999, LineStatus.INVALID, "json"))
    report = builder
    assert len(report.lines) == MOST_LINES + 1
    assert report.lines[-1].line == 9_999
    assert report.imported == 3 * MOST_LINES
    assert report.truncated


def test_a_file_that_breaks_off_is_not_complete():
    for reason in (CUT_OFF, BROKEN):
        builder = built()
        builder.add(LineResult(3, LineStatus.INVALID, reason, "the file breaks off here"))
        report = builder
        assert not report.complete
        assert report.stopped == "the file breaks off here (line 3)"


def test_a_warning_is_said_once():
    builder = built()
    for message in ("a", "b", "a"):
        builder.warn(message)
    assert builder.warnings == ("a", "b")
