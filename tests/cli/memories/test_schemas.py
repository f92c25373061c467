"""`memtree schemas` called in this process, over a store in a file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from memtree_proxy.cli.main import main

PROFILE = '{"type": "object", "properties": {"name": {"type": "string"}}}'


class Shell:
    def __init__(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch

    def run(self, *words: str, typed: str = "", code: int = 0) -> str:
        """Standard output, standard error where it fails."""
        self._monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        ended = main(["schemas", *words, "--store", self.url])
        printed = self._capsys.readouterr()
        assert ended == code, printed.err
        return printed.err if code else printed.out


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profile.json").write_text(PROFILE)
    return Shell(f"sqlite:///{tmp_path}/store.db", capsys, monkeypatch)


def test_a_schema_is_kept_shown_replaced_and_deleted(shell):
    words = ("put", "UserProfile", "profile.json", "--unique-on", "name", "--description", "Who.")
    assert shell.run(*words) == "UserProfile kept\n"
    assert shell.run("list") == "UserProfile  (one for each name)  Who.\n"
    assert shell.run("show", "UserProfile") == f"{PROFILE}\n"
    (line,) = shell.run("list", "--json").splitlines()
    assert json.loads(line)["uniqueOn"] == ["name"]
    assert shell.run("put", "UserProfile", "-", typed=PROFILE) == "UserProfile replaced\n"
    assert shell.run("list") == "UserProfile\n"
    assert shell.run("list", "--tenant", "anonymous") == ""
    would = "UserProfile would be deleted; its memories stay\n"
    assert shell.run("delete", "UserProfile", "--dry-run") == would
    assert shell.run("list") == "UserProfile\n"
    assert shell.run("delete", "UserProfile") == "UserProfile deleted; its memories stay\n"
    assert shell.run("list") == ""


def test_what_is_refused(shell, tmp_path):
    shell.run("put", "UserProfile", "profile.json")
    (tmp_path / "latin.json").write_bytes(b'{"title": "\xe4"}')
    for words, says in (
        (("put", "A", "none.json"), "none.json: No such file"),
        (("put", "A", "latin.json"), "latin.json: it is not UTF-8"),
        (("put", "a b", "profile.json"), "kind must be"),
        (("put", "A", "profile.json", "--unique-on", "mail"), "uniqueOn[0]"),
        (("show", "userprofile"), "The nearest is UserProfile"),
        (("delete", "A"), "no schema of this kind"),
        (("list", "--tenant", "nobody"), "nobody"),
    ):
        assert says in shell.run(*words, code=1)
    assert "must describe an object" in shell.run("put", "A", "-", typed="{}", code=1)
