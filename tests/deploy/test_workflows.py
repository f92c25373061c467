"""The workflows of the repository's host. Nobody runs them here: their form is checked against its
schema, and what they may do by zizmor."""

from __future__ import annotations

import re

from memtree import __version__
from tests.deploy.programs import ROOT, program, run

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_they_keep_to_the_schema():
    schema = ("--builtin-schema", "vendor.github-workflows")
    done = run(program("check-jsonschema"), *schema, *WORKFLOWS)
    assert len(WORKFLOWS) == 2
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_has_nothing_to_say():
    done = run(program("zizmor"), "--offline", "--no-progress", *WORKFLOWS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_release_is_refused_under_another_versions_tag():
    """The step's own command, as its shell runs it."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    (command,) = re.findall(r"run: (test .*)", text)
    for tag, status in ((f"v{__version__}", 0), ("v0.0.1", 1)):
        assert run("bash", "-c", command, GITHUB_REF_NAME=tag).returncode == status, tag
