"""The Dockerfile: linted, small in what it may do, and its install steps carried out for real."""

from __future__ import annotations

import os
import signal
import subprocess
import tomllib

import pytest

from memtree import __version__
from memtree_proxy.cli.main import build_parser
from scripts import image_rehearsal as rehearsal
from tests.deploy.programs import DEPLOY, ROOT, program, run
from tests.programs.server import PATIENCE, free_port

TEXT = (DEPLOY / "Dockerfile").read_text("utf-8")
STEPS = list(rehearsal.steps(TEXT))
LAST = [step for step in STEPS if step.stage == 1]


def words(word: str) -> list[str]:
    return [step.rest for step in LAST if step.word == word]


def test_hadolint_has_nothing_to_say():
    done = run(program("hadolint"), "--no-color", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_it_runs_as_a_fixed_user_without_rights():
    assert words("USER") == ["10001:10001"]
    assert words("ENTRYPOINT") == ['["memtree"]']
    assert not [step for step in STEPS if "apt" in step.rest.split() or "curl" in step.rest]


def test_both_stages_are_the_same_python():
    first, second = (step.rest.split()[0] for step in STEPS if step.word == "FROM")
    assert first == second == "python:${PYTHON}-slim-bookworm"
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert f"ARG PYTHON={oldest.removeprefix('>=')}" in TEXT


def test_the_extras_exist():
    (install,) = [step.rest for step in STEPS if "pip" in step.rest]
    wanted = install.partition(".[")[2].partition("]")[0].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(wanted) <= known.keys()
    assert {"postgres", "redis", "remote"} <= set(wanted)


def test_the_command_is_one_of_memtree():
    build_parser().parse_args(["serve"])
    assert words("CMD") == ['["serve"]']


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("memtree/config.py", False),
        ("deploy/healthcheck.py", False),
        ("memtree/__pycache__/a.pyc", True),
        ("deploy/.env", True),
        ("memtree.db", True),
        (".git/config", True),
        ("tests/programs/server.py", True),
    ],
)
def test_what_the_builder_gets(path, out):
    rules = [r for r in (ROOT / ".dockerignore").read_text().splitlines() if r and r[0] != "#"]
    assert rehearsal.ignored(path, rules) is out


@pytest.mark.long
@pytest.mark.slow
def test_the_install_steps_make_a_memtree_that_serves(tmp_path):
    """Downloads what the image installs: without a package index it is skipped, but not in CI."""
    try:
        made = rehearsal.rehearse(tmp_path)
    except subprocess.CalledProcessError:
        if "CI" in os.environ:
            raise
        pytest.skip("the packages of the image cannot be installed here")
    assert not list(made.glob("lib/*/site-packages/pip"))  # nothing to install with
    assert not list(made.glob("lib/*/site-packages/pytest"))
    assert rehearsal.size(made) < 600_000_000
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTREE_", "PYTHON"))}
    told = subprocess.check_output([made / "bin" / "memtree", "--version"], text=True, env=env)
    assert told == f"memtree {__version__}\n"
    serves(made, env | {"MEMTREE_PORT": str(free_port()), "MEMTREE_STORE": "memory:"}, tmp_path)


def serves(made, env, folder):
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [made / "bin" / "memtree", "serve"], env=env, cwd=folder, stdout=out, stderr=out
        )
    check = [made / "bin" / "python", made / "healthcheck.py"]
    try:
        while subprocess.run(check, env=env, stderr=subprocess.DEVNULL, check=False).returncode:
            assert server.poll() is None, log.read_text()
        assert "words and meaning" in log.read_text()  # the embedder is in the image
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    unhealthy = subprocess.run(check, env=env, capture_output=True, text=True, check=False)
    assert unhealthy.returncode == 1
    assert "unhealthy" in unhealthy.stderr
