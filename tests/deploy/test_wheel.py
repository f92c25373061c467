"""The wheel as a user gets it: built from the checkout, installed beside `proxy.py`, and served.

`proxy.py` is another project whose package is called `proxy`. A wheel that owned that name lost
files to it, or overwrote its files, depending on which was installed last. So both are installed
in either order, with pip and into a new environment, and neither may have touched the other.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from memtree import __version__
from tests.deploy.programs import ROOT
from tests.server import PATIENCE as PIP_SECONDS
from tests.server import free_port

# One process of tests builds and installs for all of them.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]

PATIENCE = 180.0  # seconds for what the server does in three
OURS, OTHER = "memtree-proxy", "proxy.py"
SOURCES = {"memtree": ".", "memtree_indexer": "indexer", "memtree_proxy": "proxy"}
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def clean_environment(**more: str) -> dict[str, str]:
    """This process's variables without those that would change what Python or MemTree finds."""
    ours = ("MEMTREE_", "PYTHON", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)} | more


def pip(*arguments: str | Path) -> None:
    """Run pip. Raises `SubprocessError` if it fails, and what it said is part of pytest's report.

    It runs outside of the checkout, whose folders `python -m` would make importable.
    """
    subprocess.run(
        [*PIP, *map(str, arguments)],
        cwd="/", env=clean_environment(), timeout=PIP_SECONDS, check=True,
    )  # fmt: skip


class Wheels(NamedTuple):
    ours: Path
    other: Path


class Environment(NamedTuple):
    """A virtual environment, with no pip in it and nothing of this one."""

    folder: Path

    @property
    def site(self) -> Path:
        (site,) = self.folder.glob("lib/*/site-packages")
        return site

    def python(self, code: str) -> str:
        """What `code` prints, run from the environment's folder."""
        return subprocess.check_output(
            [self.folder / "bin" / "python", "-c", code],
            cwd=self.folder, env=clean_environment(), text=True, timeout=PATIENCE,
        )  # fmt: skip

    def distribution(self, name: str) -> metadata.Distribution:
        (found,) = metadata.distributions(name=name, path=[str(self.site)])
        return found


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """Build our wheel and fetch the other project's. The download comes first and shows whether
    pip reaches a package index: if it does, whatever fails later is a failure of the test."""
    folder = tmp_path_factory.mktemp("wheels")
    soon = ("--timeout", "30", "--retries", "1")
    try:
        pip("download", *soon, "--no-deps", "--dest", folder, f"{OTHER}==2.4.10")
    except subprocess.SubprocessError:
        if "CI" in os.environ:
            raise
        pytest.skip("pip reaches no package index from here")
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (ours,) = folder.glob("memtree_proxy-*.whl")
    (other,) = folder.glob("proxy*2.4.10*.whl")
    return Wheels(ours, other)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    yield Environment(folder)
    shutil.rmtree(folder)  # 250 MB, and pytest keeps the folders of three runs


@pytest.fixture(scope="module", params=[(OURS, OTHER), (OTHER, OURS)], ids=" then ".join)
def installed(
    request: pytest.FixtureRequest, wheels: Wheels, environment: Environment
) -> Environment:
    """Install both in one order, as a user would. The dependencies stay for the second order, since
    to install them takes longest; both projects are uninstalled before it. Byte code is made
    at the first import, of what is imported, instead of for all modules now."""
    here: tuple[str | Path, ...] = ("--python", environment.folder / "bin" / "python")
    pip(*here, "uninstall", "--yes", OURS, OTHER)
    assert not [name for name in (*SOURCES, "proxy") if (environment.site / name).exists()]
    wanted = {OURS: f"{OURS}[local] @ {wheels.ours.as_uri()}", OTHER: str(wheels.other)}
    for name in request.param:
        constraints = ("--constraint", ROOT / "constraints.txt")
        pip(*here, "install", "--no-compile", *constraints, wanted[name])
    return environment


def test_the_wheel_holds_our_packages_and_all_their_files(wheels: Wheels):
    with zipfile.ZipFile(wheels.ours) as wheel:
        names = set(wheel.namelist())
    about = f"memtree_proxy-{__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {*SOURCES, about}
    files = {
        str(path.relative_to(ROOT / folder))
        for package, folder in SOURCES.items()
        for path in (ROOT / folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if not name.startswith(about)} == files
    web = [name for name in names if name.startswith("memtree_proxy/web/")]
    assert {".js", ".html", ".css"} <= {Path(name).suffix for name in web}


def test_neither_distribution_has_files_of_the_other(installed: Environment):
    owners: dict[Path, str] = {}
    for name in (OURS, OTHER):
        files = installed.distribution(name).files or []
        assert len(files) > 100
        for file in files:
            place = Path(str(file.locate())).resolve()
            assert owners.setdefault(place, name) == name
            if file.hash is not None:  # RECORD has none of itself
                digest = hashlib.new(file.hash.mode, place.read_bytes()).digest()
                shown = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
                assert shown == file.hash.value, f"{file} of {name} was overwritten"


def test_each_name_imports_its_own_package(installed: Environment):
    for name in (*SOURCES, "proxy"):
        place = installed.python(f"import {name}; print({name}.__file__)")
        assert place == f"{installed.site / name / '__init__.py'}\n"
    owners = "from importlib.metadata import packages_distributions as p; print(p()['proxy'])"
    assert installed.python(owners) == f"['{OTHER}']\n"


class Served(NamedTuple):
    """A running `memtree serve`."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        answer = httpx.request(
            method, self.url + path, json=body, timeout=PATIENCE, trust_env=False
        )
        assert answer.status_code == 200, f"{answer.text}\n{self.log.read_text()}"
        return answer

    def listens(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/health", trust_env=False).is_success
        return False

    def embeds(self) -> bool:
        """Return whether the embedder has answered. The server gives it five seconds each time,
        which may be too few on a busy machine, and asks again a minute later."""
        findings = self.ask("GET", "/v1/health/details").json()["findings"]
        (level,) = [finding["level"] for finding in findings if finding["part"] == "embedder"]
        return level == "ok"

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Fails at once if the server ends meanwhile."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.log.read_text()
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {self.process.wait(0.1)}:\n{self.log.read_text()}")


@contextmanager
def serving(environment: Environment, folder: Path) -> Iterator[Served]:
    """Run `memtree serve` of the environment; all that it keeps is in `folder`."""
    port, log = free_port(), folder / "log"
    places = dict.fromkeys(("HOME", "MEMTREE_HOME", "XDG_DATA_HOME"), str(folder))
    memtree = environment.folder / "bin" / "memtree"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [memtree, "serve", "--upstream", "none", "--port", str(port)],
            cwd=folder, env=clean_environment(**places), stdout=out, stderr=out,
        )  # fmt: skip
    try:
        yield Served(process, f"http://127.0.0.1:{port}", log)
    finally:
        process.kill()  # does nothing if it has ended; its own children end with it
        process.wait()


def test_it_serves_with_the_embedder(installed: Environment, tmp_path: Path):
    with serving(installed, tmp_path) as served:
        served.wait_for(served.listens)
        health = served.ask("GET", "/health").json()
        assert health == {"status": "ok", "version": __version__}
        messages = [{"role": "user", "content": "The moorings are checked at eight."}]
        body = {"messages": messages, "model_context_limit": 128_000}
        assert served.ask("POST", "/v1/context_memory", body).json()["messages"] == messages
        assert 'id="app"' in served.ask("GET", "/ui").text
        served.wait_for(served.embeds)
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(PATIENCE) == 0, served.log.read_text()
    assert (tmp_path / "memtree.db").is_file()
