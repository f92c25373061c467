"""The project of a conversation: the last part of the directory that a client names."""

from __future__ import annotations

import pytest

from memtree.context.indexing.index_request import project_of


@pytest.mark.parametrize(
    ("text", "project"),
    [
        (
            "<env>\n  Working directory: /home/dev/tea-shop\n  Is directory a git repo: yes",
            "tea-shop",
        ),
        ("<env>\n4. Working Directory: /home/dev/tea-shop\n</env>", "tea-shop"),
        (" - Primary working directory: /home/ann/code/proj\n - Is a git repository", "proj"),
        ("<environment_context>\n  <cwd>/home/ann/code/proj</cwd>\n  <shell>bash", "proj"),
        ("# Current Working Directory (/home/ann/My Shop) Files\nsrc/", "My Shop"),
        ("Current date: 2026-11-21\nCurrent working directory: /srv/api/", "api"),
        ("I'm currently working in the directory: /home/ann/notes\n", "notes"),
        ("You work in `C:\\Users\\ann\\src\\Parser`. cwd: C:\\Users\\ann\\src\\Parser", "Parser"),
        ("The working directory is ~/code/garden.", "garden"),
        (
            "<uploaded_files>\n/workspace/ponylang__ponyc__0.1\n</uploaded_files>",
            "ponylang__ponyc__0.1",
        ),
        ("You are a coding agent. Working directory: /home/dev/project", "project"),
        ("Avoid using cd; commands run in the current working directory by default.", ""),
        ("Run `ls` in the working directory: it lists /etc", ""),
        ("Which directory is it?", ""),
        ("Working directory: /", ""),
        ("Working directory: /home/" + "x" * 61, ""),
    ],
)
def test_what_clients_write(text: str, project: str) -> None:
    assert project_of([text]) == project
    assert project_of(["Be brief.", text, "Working directory: /later"]) in (project, "later")


def test_no_secret_and_no_control_character_is_a_project() -> None:
    key = "ghp_" + "a1B2c3" * 6
    assert key not in project_of([f"Working directory: /home/ann/{key}"])
    assert project_of(["Working directory: /home/ann/a\u202eb\x07c"]) == "abc"
