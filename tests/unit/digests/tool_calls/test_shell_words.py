"""Command lines as words: quotes, comments, here-documents and what stands before a program."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls.shell_words import split


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make  # then test\nls", [["make"], ["ls"]]),
        ("A=1 B='x y' sudo -E timeout 60s make all", [["make", "all"]]),
        ("(cd src && make)", [["cd", "src"], ["make"]]),
        ("{ make; ls; }", [["make"], ["ls"], ["}"]]),
        ("echo a\\ b 'c d'\"e\"", [["echo", "a b", "c de"]]),
        ("cat <<EOF\nbody", [["cat"]]),
        ("make\n\n\nls", [["make"], ["ls"]]),
        ("make 2>&1 | tail", [["make"], ["tail"]]),
    ],
)
def test_words(line: str, expected: list[list[str]]) -> None:
    found = [[word.text for word in command.words] for command in split(line)]
    assert [words for words in found if words] == expected
