"""Check which excerpts begin or end inside a message without a mark in the text."""

from __future__ import annotations

from typing import Any

from benchmarks.quality.cuts import Cut, cuts
from memtree.conversation.message import Message

TEXT = "The boat is red.\n\nIt leaks at the bow.\n\nWe sail on Monday."
POSTED = [Message.of({"role": "user", "content": TEXT})]
LEAKS = TEXT.index("It leaks"), TEXT.index("It leaks") + len("It leaks at the bow.")


def _excerpt(start: int, end: int, reason: str = "excerpt") -> dict[str, Any]:
    return {"message": 0, "part": "content", "start": start, "end": end, "reason": reason}


def _cuts(text: str, *excerpts: dict[str, Any], posted: list[Message] = POSTED) -> list[Cut]:
    return list(cuts(posted, excerpts, text))


def test_a_whole_message_is_not_cut():
    assert _cuts(f"[0 user]\n{TEXT}\n", _excerpt(0, len(TEXT))) == [Cut(False, False, False, False)]


def test_a_piece_without_marks_is_cut_twice():
    (cut,) = _cuts("[0 user]\nIt leaks at the bow.\n[1 user]\nYes.", _excerpt(*LEAKS))
    assert cut == Cut(True, False, True, False)


def test_marks_stand_in_the_label_and_behind_the_piece():
    (cut,) = _cuts("[0 user ...]\nIt leaks at the bow.\n[...]\n", _excerpt(*LEAKS))
    assert cut == Cut(True, True, True, True)


def test_a_label_may_stand_on_the_line_of_the_text():
    (cut,) = _cuts("\u00b60 It leaks at the bow.\n[...]", _excerpt(*LEAKS))
    assert cut == Cut(True, False, True, True)
    (cut,) = _cuts(
        "\u00b60 user, run x; older version of 3 ...\nIt leaks at the bow.", _excerpt(*LEAKS)
    )
    assert cut == Cut(True, True, True, False)


def test_a_mark_may_say_what_is_left_out():
    (cut,) = _cuts("[0 user ...]\nIt leaks at the bow. [... 40 lines of code]", _excerpt(*LEAKS))
    assert cut.end_marked


def test_a_gap_marks_the_end_of_one_piece_and_the_begin_of_the_next():
    first, last = _excerpt(0, 16), _excerpt(TEXT.index("We sail"), len(TEXT))
    shown = "[0 user]\nThe boat is red.\n[...]\nWe sail on Monday.\n"
    assert _cuts(shown, first, last) == [
        Cut(False, False, True, True),
        Cut(True, True, False, False),
    ]


def test_what_the_next_excerpt_shows_is_not_left_out():
    first, second = _excerpt(0, LEAKS[0]), _excerpt(LEAKS[0], len(TEXT))
    shown = f"[0 user]\n{TEXT[: LEAKS[0]]}{TEXT[LEAKS[0] :]}"
    assert not any(cut.begins_inside or cut.ends_inside for cut in _cuts(shown, first, second))


def test_blocks_that_clients_rewrite_may_be_left_out():
    text = "<system-reminder>12:00</system-reminder>\nGo on."
    posted = [Message.of({"role": "user", "content": text})]
    (cut,) = _cuts("[0 user]\nGo on.", _excerpt(text.index("Go"), len(text)), posted=posted)
    assert not cut.begins_inside


def test_rules_have_a_list_of_their_own():
    assert _cuts("- It leaks at the bow.", _excerpt(*LEAKS, reason="rule")) == []


def test_the_label_of_a_run_covers_each_message_in_it():
    posted = [Message.of({"role": "user", "content": text}) for text in ("Yes.", TEXT, "No.")]
    excerpt = {**_excerpt(*LEAKS), "message": 1}
    (cut,) = _cuts("[0-2 user ...]\nYes.\nIt leaks at the bow.\nNo.", excerpt, posted=posted)
    assert cut.begin_marked


def test_a_piece_is_looked_for_under_its_own_label():
    posted = [Message.of({"role": "user", "content": text}) for text in ("bow", f"a {LEAKS} bow")]
    excerpts = [_excerpt(0, 3), {**_excerpt(len(f"a {LEAKS} "), len(posted[1].text)), "message": 1}]
    assert [cut.begin_marked for cut in _cuts("[0 user]\nbow\n[1 user ...]\nbow", *excerpts,
                                              posted=posted)] == [False, True]  # fmt: skip
