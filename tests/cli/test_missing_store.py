"""Commands on a store that is not there: they say so, and make none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree_proxy.cli.main import main

# Arguments of each command that has nothing to do without a store.
READING = [
    "check",
    "delete --all",
    "delete --all --dry-run",
    "doctor",
    "documents delete space a",
    "documents list",
    "documents search space words",
    "grants release 0x0000000000000000000000000000000000000000",
    "grants wallets anonymous",
    "keys add-value mine",
    "keys list",
    "keys remove-value mine --value x",
    "keys revoke mine",
    "memories confirm 1",
    "memories delete 1",
    "memories export",
    "memories history 1",
    "memories list",
    "memories pin 1",
    "memories search words",
    "memories settle 1 2 keep_both",
    "memories undelete 1",
    "requests",
    "schemas delete UserProfile",
    "schemas list",
    "schemas show UserProfile",
    "tenants list",
    "tenants move a b",
]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("typed", READING)
@pytest.mark.parametrize("there", [False, True], ids=["no file", "an empty file"])
def test_it_says_so_and_makes_none(
    typed: str, there: bool, nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = nowhere / "store.db"
    if there:
        path.touch()
    given = ["--store", f"sqlite:///{path}"]
    if typed.startswith(("doctor", "documents", "memories")):
        given += ["--embedder", "none"]
    if typed == "doctor":
        given += ["--upstream", "none"]
    assert main([*typed.split(), *given]) == (0 if typed == "doctor" else 1)
    said = "".join("".join(capsys.readouterr()).split())  # `doctor` breaks lines
    assert f"Thereisnostoreat{path}" in said
    assert [each.name for each in nowhere.iterdir()] == ["store.db"] * there
    assert not there or path.stat().st_size == 0


@pytest.mark.parametrize("typed", ["check", "keys list", "memories list"])
@pytest.mark.parametrize("home", ["", "/nobody/is/here"])
def test_without_a_home_the_settings_are_named(
    typed: str, home: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_DATA_HOME")
    assert main(typed.split()) == 1
    said = capsys.readouterr().err
    assert "HOME is not set, or names no folder" in said
    assert "--home" in said
    assert "--store" in said
    assert list(nowhere.iterdir()) == []


def test_a_dry_run_of_an_import_makes_none(nowhere: Path, capsys) -> None:
    (nowhere / "list.txt").write_text("- I like tea\n")
    given = ["--store", f"sqlite:///{nowhere}/store.db", "--embedder", "none"]
    main(["memories", "import", "list.txt", "--dry-run", *given])
    assert "1" in capsys.readouterr().out
    assert [each.name for each in nowhere.iterdir()] == ["list.txt"]
