"""State files: private, removed at the end, and never another server's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memtree.config import Settings
from memtree_proxy.server.state_file import known_servers, state_file


def settings(folder: Path, host: str = "127.0.0.1") -> Settings:
    return Settings(home=str(folder), host=host)


def test_only_its_owner_reads_it_and_it_is_gone_at_the_end(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with state_file(settings(home), 8787, "hidden"):
        (path,) = (home / "servers").iterdir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        (state,) = known_servers(home)
        assert (state.pid, state.port, state.secret) == (os.getpid(), 8787, "hidden")
        assert "hidden" not in repr(state)
    assert known_servers(home) == []
    assert list((home / "servers").iterdir()) == []


@pytest.mark.parametrize(("host", "url"), [
    ("127.0.0.1", "http://127.0.0.1:8787"), ("0.0.0.0", "http://127.0.0.1:8787"),
    ("::", "http://[::1]:8787"), ("localhost", "http://localhost:8787"),
])  # fmt: skip
def test_the_address_is_one_that_this_machine_reaches(tmp_path: Path, host: str, url: str) -> None:
    with state_file(settings(tmp_path, host), 8787, "s"):
        assert [state.url for state in known_servers(tmp_path)] == [url]


def test_a_file_that_another_wrote_meanwhile_stays(tmp_path: Path) -> None:
    with state_file(settings(tmp_path), 1, "first"):
        # Two containers that share the folder: both are number 1.
        (path,) = (tmp_path / "servers").iterdir()
        path.write_text(path.read_text().replace("first", "second"))
    assert [state.secret for state in known_servers(tmp_path)] == ["second"]


def test_what_a_killed_server_left_goes_when_the_next_begins(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with state_file(settings(tmp_path), 1, "s"):
        (own,) = (tmp_path / "servers").iterdir()
        left = own.with_name(f"{ended.pid}.json")
        left.write_text(own.read_text().replace(f":{os.getpid()},", f":{ended.pid},"))
        living = own.with_name(f"{os.getppid()}.json")
        living.write_text(own.read_text().replace(f":{os.getpid()},", f":{os.getppid()},"))
        assert len(known_servers(tmp_path)) == 3
        with state_file(settings(tmp_path), 2, "t"):
            assert not left.exists()
            assert living.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "1"}', b"\xff", b"1" * 20_000])
def test_what_is_no_state_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "7.json").write_bytes(content)
    assert known_servers(tmp_path) == []
    with state_file(settings(tmp_path), 1, "s"):
        assert len(known_servers(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_keeps_nobody_from_serving(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("a file")
    with state_file(settings(tmp_path / "home"), 1, "hidden"):
        pass
    assert "state_file.not_written" in caplog.text
    assert "hidden" not in caplog.text
    assert known_servers(None) == []
