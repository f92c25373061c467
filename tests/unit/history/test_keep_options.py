"""Check how the fields are read that say what a request keeps."""

from __future__ import annotations

import pytest

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.history.keep_options import LONGEST, MOST, is_glob, keep_options


def test_patterns_are_globs_over_paths_or_parts_of_lines():
    options = keep_options(["src/*.py", "CLAUDE.md", "FAILED", "quota =", "FAILED"], ["plan"])
    assert options.globs == ["src/*.py", "CLAUDE.md"]
    assert options.line_parts == ["FAILED", "quota ="]
    assert options.tools == ("plan",)


@pytest.mark.parametrize("pattern", ["*", "a?b", "src/", ".env", "app.py", "Übung.txt"])
def test_signs_of_a_path_make_a_glob(pattern: str):
    assert is_glob(pattern)


@pytest.mark.parametrize("pattern", ["TODO", "port 8443.", "e.g. this", "v1.2", "[a-z]+", "."])
def test_all_else_is_a_part_of_a_line(pattern: str):
    assert not is_glob(pattern)


@pytest.mark.parametrize(
    ("patterns", "tools", "named"),
    [
        ("src/*", [], "keep_patterns"),
        ({}, [], "keep_patterns"),
        (["x"] * (MOST + 1), [], "keep_patterns"),
        (["x", None], [], "keep_patterns[1]"),
        ([""], [], "keep_patterns[0]"),
        (["a\nb"], [], "keep_patterns[0]"),
        ([], ["x" * (LONGEST + 1)], "protected_tools[0]"),
        ([], [7], "protected_tools[0]"),
    ],
)
def test_what_cannot_be_read_is_named(patterns: object, tools: object, named: str):
    with pytest.raises(BadRequest) as raised:
        keep_options(patterns, tools)
    assert raised.value.param == named


def test_settings_are_read_as_strictly():
    settings = Settings.of(keep_patterns="docs/*.md, quota", protected_tools=["get_tasks"])
    assert settings.keep_patterns == ("docs/*.md", "quota")
    with pytest.raises(BadRequest, match="keep_patterns"):
        Settings.of(keep_patterns=["x"] * (MOST + 1))
