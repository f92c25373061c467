"""Ceilings fall with the figures, and rise with a decision record alone."""

from __future__ import annotations

import subprocess

import pytest

from scripts import ceilings
from scripts.ceilings import Ceiling

TEXT = """# head
[warm]
files = 100
calls = 1000  # docs/decisions/0001-why.md
"""
LOWER, HIGHER = {"warm": {"files": 97, "calls": 940}}, {"warm": {"files": 101, "calls": 1011}}
OTHER = "docs/decisions/0002-other.md"


@pytest.mark.parametrize(
    ("files", "calls", "wrong"),
    [
        (100, 1_000, []),
        (98, 950, []),  # as far below as may be
        (97, 949, ["lower it to 949", "lower it to 97"]),
        (101, 1_010, ["101 files, the ceiling is 100"]),
        (100, 1_011, ["1011 calls, the ceiling is 1000"]),
    ],
)
def test_a_figure_may_be_neither_above_its_ceiling_nor_far_below(files, calls, wrong):
    told = list(ceilings.faults("warm", {"files": files, "calls": calls}, ceilings.read(TEXT)))
    assert len(told) == len(wrong)
    assert all(said in each for said, each in zip(wrong, told, strict=True))


def test_each_figure_has_a_ceiling_and_each_ceiling_a_figure():
    told = list(ceilings.faults("warm", {"files": 100, "rows": 1}, ceilings.read(TEXT)))
    assert [each.split()[1] for each in told] == ["calls", "rows"]
    with pytest.raises(ValueError, match="seven"):
        ceilings.read("[warm]\nfiles = seven\n")


def test_the_table_is_lowered_and_rises_with_a_record_alone():
    assert ceilings.changed(TEXT, LOWER) == "# head\n[warm]\nfiles = 97\ncalls = 940\n"
    assert ceilings.changed(TEXT, HIGHER) == TEXT
    raised = ceilings.read(ceilings.changed(TEXT, HIGHER, OTHER))
    assert raised == {("warm", "files"): (101, OTHER), ("warm", "calls"): (1011, OTHER)}


def test_a_ceiling_that_rose_names_a_record_that_exists(tmp_path, monkeypatch):
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    def wrong(figure: int, record: str) -> int:
        text = TEXT.replace("1000  # docs/decisions/0001-why.md", f"{figure}  # {record}")
        return len(list(ceilings.unfounded(ceilings.read(text), ceilings.before(text))))

    monkeypatch.setattr(ceilings, "ROOT", tmp_path)
    table, records = tmp_path / ceilings.TABLE, tmp_path / "docs" / "decisions"
    table.parent.mkdir()
    records.mkdir(parents=True)
    for name in ("0001-why.md", "0002-other.md", "README.md"):
        (records / name).touch()
    table.write_text(TEXT)
    assert ceilings.before(TEXT) == {}, "outside of git"
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "a")
    assert ceilings.before(TEXT) == {}, "the table is new"
    assert wrong(999, "docs/decisions/0001-why.md") == 0
    assert wrong(1001, "docs/decisions/0001-why.md") == 1, "the record of an earlier rise"
    assert wrong(1001, "docs/decisions/0009-none.md") == 1
    assert wrong(1001, "docs/decisions/README.md") == 1
    assert wrong(1001, OTHER) == 0
    higher = TEXT.replace("1000", "1001")
    table.write_text(higher)
    git("commit", "-q", "-a", "-m", "b")
    git("commit", "-q", "--allow-empty", "-m", "c")
    assert ceilings.before(higher)["warm", "calls"] == Ceiling(1000, "docs/decisions/0001-why.md")
