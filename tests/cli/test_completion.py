"""Completion in a real shell, and answers of commands as JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from memtree_proxy.cli.main import main

MESSAGES = [{"role": "user", "content": "Remember the limit 3337."}]
TYPED = """
for line in 'memtree tena' 'memtree memories his' 'memtree check --j' 'memtree keys plan x p' \\
    'memtree memories list lis' 'memtree index x'; do
    COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _memtree; echo "${COMPREPLY[*]}"
done
COMP_WORDS=(memtree completion ''); COMP_CWORD=2; _memtree; echo "${COMPREPLY[*]}"
"""


def test_words_that_may_follow_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    done = subprocess.run(
        ["bash", "-c", script + TYPED], capture_output=True, text=True, check=True
    )
    words = ["tenants", "history", "--json", "pro", "", "", "bash zsh fish"]
    assert done.stdout.splitlines() == words


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_the_same_words(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "tenants" in script
    assert "'memories history'" in script
    assert "{" not in script.replace("${", "").replace("() {", "")


def test_answers_are_json_a_line_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMTREE_HOME", str(tmp_path))
    Path("x.json").write_text(json.dumps(MESSAGES))
    store = ("--store", "sqlite:///s.db")

    def rows(*words: str, code: int = 0) -> list[dict[str, object]]:
        capsys.readouterr()
        assert main(list(words)) == code
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    def names(*words: str) -> list[str]:
        return sorted(rows(*words)[-1])

    main(["memories", "add", "We deploy on Fridays", *store, "--embedder", "none"])
    main(["keys", "create", "laptop", "--value", "sk-1", *store])
    tree = ("tree", "x.json", "--json", "--embedder", "none", *store)
    assert names(*tree) == ["nodes", "roots", "rules", "state"]
    assert "excerpts" in names(*tree, "--query", "limit")
    (key,) = rows("keys", "list", "--json", *store)
    assert (key["label"], key["values"], key["plan"]) == ("laptop", 1, "pro")
    (tenant,) = rows("tenants", "list", "--json", *store)
    assert (tenant["name"], tenant["memories"], tenant["keys"]) == ("local", 1, [])
    assert rows("check", "--json", *store)[0]["problems"] == []
    assert rows("status", "--json")[0]["servers"] == []
    nowhere = ("--upstream", "http://127.0.0.1:9/v1", "--embedder", "none")
    *findings, summary = rows("doctor", "--json", *nowhere, *store, code=1)
    assert {"part", "level", "text"} == set(findings[0])
    assert summary["sound"] is False
