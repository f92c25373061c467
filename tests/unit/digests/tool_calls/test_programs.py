"""Check what a simple command is for, by its program and its words."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls.fields import BUILD, CHANGE, INSTALL, RUN, TEST
from memtree.digests.tool_calls.shell import program_purpose


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python -m unittest -v", TEST),
        ("python -m", RUN),
        ("python manage.py test app", TEST),
        ("python tests/test_a.py", TEST),
        ("python app.py", RUN),
        ("uv run pytest -q", TEST),
        ("poetry run", RUN),
        ("uv pip install x", INSTALL),
        ("uv pip list", 0),
        ("npm run build", BUILD),
        ("npm exec vitest", TEST),
        ("yarn", INSTALL),
        ("pnpm add left-pad", INSTALL),
        ("npm ls", 0),
        ("npm start", RUN),
        ("cargo nextest run", TEST),
        ("apt-get build-dep x", INSTALL),
        ("git -C sub -c a=b push", CHANGE),
        ("git -C sub log", 0),
        ("git", 0),
        ("sed -i s/a/b/ x", CHANGE),
        ("sed -n 1p x", 0),
        ("perl x.pl", RUN),
        ("docker build .", BUILD),
        ("docker rm x", CHANGE),
        ("podman ps", 0),
        ("bash tests/run_tests.sh", TEST),
        ("node server.js", RUN),
        ("./run-tests.sh", TEST),
        ("my-tool --all", RUN),
        ("npx " * 2_000, RUN),
        ("%%", 0),
    ],
)
def test_a_command_is_for(line: str, expected: int) -> None:
    assert program_purpose(line.split()) == expected
