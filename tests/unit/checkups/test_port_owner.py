"""Who listens on a port, as `/proc` shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree_proxy.checkups.machine import port_owner

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"
# Port 8787 is 2253 in hexadecimal; the second socket is connected and does not listen.
LINES = """
   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4242 1 0
   1: 0100007F:2254 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  0 0 4343 1 0"""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(HEAD + LINES)
    for number, socket, name in (("17", "4343", "curl"), ("18", "4242", "rival\x1b[31m\n")):
        (tmp_path / number / "fd").mkdir(parents=True)
        (tmp_path / number / "fd" / "3").symlink_to(f"socket:[{socket}]")
        (tmp_path / number / "comm").write_text(name)
    return tmp_path


def test_a_process_is_named_without_its_control_characters(proc: Path):
    assert port_owner(8787, proc) == "rival?[31m (process 18)"


def test_a_connection_is_no_listener(proc: Path):
    assert port_owner(8788, proc) is None


def test_another_users_process_is_not_known(proc: Path):
    (proc / "18" / "fd" / "3").unlink()
    (proc / "18" / "fd").rmdir()
    assert port_owner(8787, proc) is None


def test_without_proc_nothing_is_known(tmp_path: Path):
    assert port_owner(8787, tmp_path) is None
