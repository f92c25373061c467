"""Coverage by room: lines and branches together, and a room that lost some is named."""

from __future__ import annotations

import json

import pytest

from scripts import room_coverage


def report(**percents: int) -> dict[str, object]:
    def file(percent: int) -> dict[str, object]:
        return {"summary": {"covered_lines": percent, "num_statements": 80,
                            "covered_branches": 0, "num_branches": 20}}  # fmt: skip

    return {"files": {path.replace("__", "/") + ".py": file(n) for path, n in percents.items()}}


def test_a_room_is_a_folder_of_a_package_or_a_file_beside():
    found = room_coverage.coverage_by_room(
        report(
            memtree__text__a=50, memtree__text__deep__b=70, memtree__config=80,
            proxy__memtree_proxy__chat__c=40,
        )
    )  # fmt: skip
    assert found == {"memtree/config.py": 80.0, "memtree/text": 60.0, "memtree_proxy/chat": 40.0}


def test_what_falls_under_its_floor_fails_and_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(room_coverage, "FLOORS", tmp_path / "floors.json")
    path = tmp_path / "report.json"

    def judged(percent: int, *more: str) -> tuple[int, str]:
        path.write_text(json.dumps(report(memtree__text__a=percent, memtree__tree__b=70)))
        return room_coverage.main([str(path), *more]), capsys.readouterr().out

    assert judged(60)[0] == 0
    assert judged(60, "--keep")[0] == 0
    assert judged(61)[0] == 0
    status, told = judged(59)
    assert status == 1
    assert [line.split()[0] for line in told.splitlines() if "LOWER" in line] == ["memtree/text"]
    monkeypatch.setattr(room_coverage, "SLACK", 1.0)
    assert judged(59)[0] == 0


@pytest.mark.parametrize("path", ["memtree/a/b.py", "indexer/memtree_indexer/a/b.py"])
def test_rooms_are_found_below_every_source_root(path):
    assert room_coverage.room_of(path).endswith("/a")
