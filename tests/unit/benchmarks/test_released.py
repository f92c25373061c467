"""The figures of the last release stand beside today's, where there are any."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from benchmarks.report import Row
from benchmarks.speed import released

ROWS = [Row("first answer", 5.75, "s", 1.5, True), Row("tokens", 1_193_575.0)]


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"json": None, "release": None, **given})


def test_a_run_is_kept_as_the_release_and_shown_beside_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(released, "FILE", tmp_path / "released.json")
    released.show(options(), "cold", "from nothing", ROWS)
    assert "released" not in capsys.readouterr().out
    released.show(options(release="two cores"), "cold", "from nothing", ROWS)
    capsys.readouterr()
    faster = [Row("first answer", 1.25, "s", 1.5, True), Row("new", 3.0)]
    released.show(options(json=tmp_path / "out.json"), "cold", "from nothing", faster)
    heading, first, new, machine = capsys.readouterr().out.splitlines()[3:]
    assert heading.split() == ["released"]
    assert first.split() == ["first", "answer", "1.250", "s", "<=", "1.500", "ok", "5.75"]
    assert new.split() == ["new", "3"]
    assert machine == "released: two cores"
    written = json.loads((tmp_path / "out.json").read_text())
    assert [row["figure"] for row in written] == [1.25, 3.0]


def test_the_figures_of_the_release_name_their_machine() -> None:
    releases = json.loads(released.FILE.read_text("utf-8"))
    assert releases.keys() == {"peers", "warm", "cold"}
    assert all(release["machine"] and release["figures"] for release in releases.values())
