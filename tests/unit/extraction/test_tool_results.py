"""Calls in words."""

from __future__ import annotations

import pytest

from memtree.extraction.boilerplate import is_boilerplate
from memtree.extraction.clause import SourcePassage
from memtree.extraction.tool_results import call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"command":"cd /srv/app && make test 2>&1 | tail -5","blocking":true}', "run make test"),
        ('{"is_input":false,"command":"make lint | head"}', "run make lint"),
        ('{"limit":9,"filePath":"src/lexer.c"}', "run src/lexer.c"),
        ('{"files":[{"path":"notes/a.md"}]}', "run notes/a.md"),
        ("{}", "run"),
        ('{"pid":7}', "run pid 7"),
    ],
)
def test_a_call_is_told_by_its_path_or_command_and_never_in_json(arguments, said):
    assert call(SourcePassage("assistant", f"run {arguments}", "call")).text == said


def test_that_a_tool_is_used_is_boilerplate():
    assert is_boilerplate("I will use a tool.")
    assert is_boilerplate("Step 4: I will use a tool")
    assert not is_boilerplate("I will use a mutex around the queue")
