"""The wheel as a user gets it: built from the checkout, installed beside `proxy.py`, and served.

`proxy.py` is another project whose package is called `proxy`. A wheel that owned that name lost
files to it, or overwrote its files, depending on which was installed last. So both are installed
in either order, with pip and into a new environment, and neither may have touched the other.

What is served may write into its data folder and nowhere else, as for a program that an
administrator installed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from memtree import __version__
from tests.deploy.programs import ROOT
from tests.programs.server import PATIENCE as PIP_SECONDS
from tests.programs.server import free_port

# One process of tests builds and installs for all of them.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]

PATIENCE = 180.0  # seconds for what the server does in three
OURS, OTHER = "memtree-proxy", "proxy.py"
# File modes do not bind root, unless it gives its capabilities up (util-linux has this program).
BOUND = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
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
        """Return what `code` prints, run from the environment's folder."""
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
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)  # 250 MB, and pytest keeps the folders of three runs


@pytest.fixture(scope="module", params=[(OURS, OTHER), (OTHER, OURS)], ids=" then ".join)
def installed(
    request: pytest.FixtureRequest, wheels: Wheels, environment: Environment
) -> Environment:
    """Install both in one order, as a user would. The dependencies stay for the second order, since
    to install them takes longest; both projects are uninstalled before it. Byte code is made
    at the first import, of what is imported, instead of for all modules now."""
    here: tuple[str | Path, ...] = ("--python", environment.folder / "bin" / "python")
    subprocess.run(["chmod", "-R", "u+w", environment.folder], check=True)  # of the first order
    pip(*here, "uninstall", "--yes", OURS, OTHER)
    assert not [name for name in (*SOURCES, "proxy") if (environment.site / name).exists()]
    wanted = {OURS: f"{OURS} @ {wheels.ours.as_uri()}", OTHER: str(wheels.other)}
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
        assert answer.is_success, f"{answer.text}\n{self.log.read_text()}"
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


class Limits(NamedTuple):
    """Variables and working folder of a program of the wheel."""

    env: dict[str, str]
    cwd: Path

    def run(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*BOUND, program, *arguments], cwd=self.cwd, env=self.env,
            text=True, capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip


@pytest.fixture
def limits(installed: Environment, tmp_path: Path) -> Limits:
    """Take the right to write from all folders but the data folder."""
    home, here = tmp_path / "home", tmp_path / "here"
    for folder in (home, here):
        folder.mkdir()
    subprocess.run(["chmod", "-R", "a-w", installed.folder, here], check=True)
    refused = subprocess.run([*BOUND, "touch", here / "x"], capture_output=True, check=False)
    assert refused.returncode == 1
    places = dict.fromkeys(("HOME", "XDG_DATA_HOME"), str(home))
    return Limits(clean_environment(**places, PYTHONDONTWRITEBYTECODE="1"), here)


class Upstream(BaseHTTPRequestHandler):
    """A model that repeats how many messages it got."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = f"{len(body['messages'])} messages"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        answer = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def serving(environment: Environment, limits: Limits, upstream: str, log: Path) -> Iterator[Served]:
    """Run `memtree-proxy` of the environment, with options and without a command."""
    port = free_port()
    program = environment.folder / "bin" / "memtree-proxy"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*BOUND, program, "--upstream", upstream, "--port", str(port)],
            cwd=limits.cwd, env=limits.env, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        yield Served(process, f"http://127.0.0.1:{port}", log)
    finally:
        process.kill()  # does nothing if it has ended; its own children end with it
        process.wait()


def test_all_of_it_works_for_a_user_who_may_write_into_the_data_folder_alone(
    installed: Environment, limits: Limits, upstream: str, tmp_path: Path
):
    with serving(installed, limits, upstream, tmp_path / "log") as served:
        served.wait_for(served.listens)
        health = served.ask("GET", "/health").json()
        assert health == {"status": "ok", "version": __version__}
        messages = [{"role": "user", "content": "The moorings are checked at eight."}]
        body = {"messages": messages, "model_context_limit": 128_000}
        assert served.ask("POST", "/v1/context_memory", body).json()["messages"] == messages
        assert 'id="app"' in served.ask("GET", "/ui").text
        assert served.ask("GET", "/llms.txt").text.startswith("# MemTree")
        chat = {"model": "m", "messages": messages}
        said = served.ask("POST", "/v1/chat/completions", chat).json()
        assert said["choices"][0]["message"]["content"] == "1 messages"
        saved = served.ask("POST", "/v1/memories", {"text": "Ann is left-handed."}).json()
        assert saved["id"] in served.ask("GET", "/v1/memories").text
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert '"remember"' in served.ask("POST", "/mcp", listed).text
        served.wait_for(served.embeds)
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(PATIENCE) == 0, served.log.read_text()
    (home,) = (folder for folder in (tmp_path / "home").rglob("memtree.db"))
    assert home.is_file()
    memtree = installed.folder / "bin" / "memtree"
    shown = limits.run(memtree, "demo", "--tokens", "16000")
    assert "What the model has to read" in shown.stdout, shown.stderr
    checked = limits.run(memtree, "doctor", "--upstream", "none")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert limits.run(memtree).returncode == 2  # and it prints the help
    assert list(limits.cwd.iterdir()) == []


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist as `make dist` builds them: the wheel from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        cwd="/", env=clean_environment(), check=True, capture_output=True, timeout=PIP_SECONDS,
    )  # fmt: skip
    return folder


def test_the_index_would_take_what_is_built(wheels: Wheels, dist: Path):
    files = sorted(dist.iterdir())
    assert [file.name for file in files] == [
        f"memtree_proxy-{__version__}-py3-none-any.whl", f"memtree_proxy-{__version__}.tar.gz"
    ]  # fmt: skip
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    with zipfile.ZipFile(files[0]) as built, zipfile.ZipFile(wheels.ours) as ours:
        assert sorted(built.namelist()) == sorted(ours.namelist())
        about = built.read(f"memtree_proxy-{__version__}.dist-info/METADATA").decode()
    # Every link and picture of the README leads somewhere from the index's page, too.
    places = re.findall(r"\]\(([^)]+)\)", about)
    assert len(places) > 20
    assert [place for place in places if not place.startswith(("https://", "#"))] == []
    assert not re.search("^Provides-Extra: (dev|browser|local|mcp)", about, re.MULTILINE)
    with tarfile.open(files[1]) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    wanted = (
        "docs/README.md deploy/Dockerfile benchmarks/recall/locomo.py LICENSE SECURITY.md Makefile"
    )
    assert set(wanted.split()) < names
