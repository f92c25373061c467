"""Groups of tests run beside each other, and what fails in one is shown and counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import grouped_tests
from scripts.grouped_tests import ROOT, groups_of


def test_every_folder_with_tests_is_in_one_group():
    found = [ROOT / path for paths in groups_of(ROOT / "tests").values() for path in paths]
    assert len(found) == len(set(found))
    there = {path for path in (ROOT / "tests").glob("*/**/test_*.py") if "/." not in str(path)}
    assert there - {path for path in there for one in found if path.is_relative_to(one)} == set()
    assert not list((ROOT / "tests").glob("test_*.py")), "they would be run by no group"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder, body in (("http", "pass"), ("unit", "pass"), ("other", "assert not 'broken'")):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        test = f"import pytest\ndef test_it(): {body}\n@pytest.mark.skip\ndef test_left(): pass\n"
        (tmp_path / "tests" / folder / f"test_{folder}.py").write_text(test)
    monkeypatch.setattr(grouped_tests, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # to load them takes seconds
    return tmp_path


def test_what_fails_is_shown_and_counted(project: Path, capfd: pytest.CaptureFixture[str]):
    assert grouped_tests.main(["--timings", str(project / "times")]) == 1
    told = capfd.readouterr().out
    assert "assert not 'broken'" in told
    assert told.splitlines()[-2:] == ["failed: programs", "2 passed, 1 failed, 3 skipped"]
    assert len(list((project / "times").glob("*.xml"))) == 3


def test_a_selection_may_leave_nothing_of_a_group(project: Path, capfd: pytest.CaptureFixture[str]):
    assert grouped_tests.main(["-k", "test_http"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"


def test_who_ends_it_ends_the_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "grouped_tests.py"
    script.write_text(Path(grouped_tests.__file__).read_text())
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    pid = tmp_path / "pid"
    pid.touch()
    body = f"open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')"
    test = f"import os, time\ndef test_it():\n    {body}\n    time.sleep(600)\n"
    (tmp_path / "tests" / "unit" / "test_it.py").write_text(test)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as process:
        while not pid.read_text().endswith("\n"):
            assert process.poll() is None
        process.terminate()
        assert process.wait(180) == 128 + 15
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
