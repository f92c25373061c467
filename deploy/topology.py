"""The whole topology as plain processes on one machine: Redis, PostgreSQL, proxies, workers, and
the balancer with the very Caddyfile of compose.yaml. For trying it out, and for tests.

    make topology                          # starts it, prints where everything is, until Ctrl-C
    python -m deploy.topology --workers 4 --upstream http://127.0.0.1:11434/v1

    with topology(tmp_path, Shape(proxies=2, workers=2)) as parts:
        parts.kill("worker-1")             # parts: postgres, redis, proxy-N, worker-N, balancer
        parts.start("worker-1")
        httpx.get(parts.url + "/health")

Each part can be started, stopped, killed, frozen and started again on the same port, alone. The
servers of Redis and PostgreSQL are those of the tests; the programs come with the tools of
`make install` and `make deploytools`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from deploy.part import Part, Process, health
from deploy.servers import Postgres, Redis
from tests.programs.server import free_port

ROOT = Path(__file__).resolve().parent.parent
CADDY = ROOT / "tests" / "deploy" / ".venv" / "bin" / "caddy"


@dataclass(frozen=True, slots=True)
class Shape:
    """How many of what. `settings`: MEMTREE_* variables of all proxies and workers.

    Without workers there is no Redis, and the proxies index by themselves, as one process does.
    Without `postgres` all share one SQLite file, `folder/memtree.db`.
    """

    proxies: int = 2
    workers: int = 2
    postgres: bool = True
    balancer: bool = True
    upstream: str = "none"
    settings: Mapping[str, str] = field(default_factory=dict)


class Topology:
    """Named parts in the order of their start. `url` is the balancer's, or the only proxy's."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.folder = folder
        self._parts: dict[str, Part] = {}
        self._shape = shape

    @property
    def url(self) -> str:
        return self.urls["balancer" if self._shape.balancer else "proxy-1"]

    @property
    def urls(self) -> dict[str, str]:
        """Where each part answers: http://..., redis://..., postgresql://..."""
        return {name: part.url for name, part in self._parts.items()}

    @property
    def names(self) -> list[str]:
        return list(self._parts)

    def log(self, name: str) -> Path:
        return self._parts[name].log

    def alive(self, name: str) -> bool:
        return self._parts[name].alive

    def start(self, name: str) -> None:
        """Start a part that is not running, and wait until it answers."""
        self._parts[name].start()

    def stop(self, name: str) -> None:
        """Ask a part to end (SIGTERM), and wait for it."""
        self._parts[name].stop()

    def kill(self, name: str) -> None:
        """End a part at once (SIGKILL)."""
        self._parts[name].kill()

    def restart(self, name: str) -> None:
        self.stop(name)
        self.start(name)

    def freeze(self, name: str) -> None:
        """It is there and does nothing, until `thaw`."""
        self._parts[name].freeze()

    def thaw(self, name: str) -> None:
        self._parts[name].thaw()

    def add(self, name: str, make: Callable[[], Part]) -> None:
        """Make a part and start it."""
        self._parts[name] = make()
        self._parts[name].start()

    def close(self) -> None:
        """End everything, whoever needs others first."""
        for part in reversed(self._parts.values()):
            part.close()


@contextlib.contextmanager
def topology(folder: Path, shape: Shape = Shape()) -> Iterator[Topology]:
    """A running topology with its logs in `folder`. `RuntimeError` with the log of a part that
    does not come up; nothing is left running then, nor afterwards."""
    made = Topology(folder, shape)
    try:
        _build(made, shape)
        yield made
    finally:
        made.close()


def _build(made: Topology, shape: Shape) -> None:
    folder = made.folder
    if shape.postgres:
        made.add("postgres", Postgres)
        settings = {"MEMTREE_STORE": made.urls["postgres"]}
    else:
        settings = {"MEMTREE_STORE": f"sqlite:///{folder / 'memtree.db'}"}
    if shape.workers:
        made.add("redis", Redis)
        settings["MEMTREE_QUEUE"] = made.urls["redis"]
    settings |= {"MEMTREE_UPSTREAM": shape.upstream} | dict(shape.settings)
    for number in range(1, shape.proxies + 1):
        name = f"proxy-{number}"
        made.add(name, partial(proxy, folder, name, settings))
    for number in range(1, shape.workers + 1):
        name = f"worker-{number}"
        made.add(name, partial(worker, folder, name, settings))
    if shape.balancer:
        proxies = [url for name, url in made.urls.items() if name.startswith("proxy-")]
        made.add("balancer", partial(balancer, folder, proxies))


def proxy(folder: Path, name: str, settings: Mapping[str, str]) -> Process:
    port = free_port()
    command = [sys.executable, "-m", "memtree_proxy.cli", "serve", "--port", str(port)]
    return Process(command, folder / f"{name}.log", settings, health(port))


def worker(folder: Path, name: str, settings: Mapping[str, str]) -> Process:
    port = free_port()
    command = [sys.executable, "-m", "memtree_proxy.cli", "worker", "--health-port", str(port)]
    return Process(command, folder / f"{name}.log", settings, health(port))


def balancer(folder: Path, proxies: list[str]) -> Process:
    port = free_port()
    settings = {
        "MEMTREE_SITE": f"http://:{port}",
        "MEMTREE_LISTEN": "127.0.0.1",
        "MEMTREE_PROXIES": " ".join(url.removeprefix("http://") for url in proxies),
        "XDG_DATA_HOME": str(folder / "caddy"),
        "XDG_CONFIG_HOME": str(folder / "caddy"),
    }
    config = ["--config", str(ROOT / "deploy" / "Caddyfile"), "--adapter", "caddyfile"]
    return Process([_caddy(), "run", *config], folder / "balancer.log", settings, health(port))


def _caddy() -> str:
    found = str(CADDY) if CADDY.exists() else shutil.which("caddy")
    if not found:
        raise RuntimeError("there is no Caddy for the balancer: make deploytools")
    return found


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="topology", description="MemTree on one machine.")
    parser.add_argument("--proxies", type=int, default=2, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--upstream", default="none", metavar="URL", help="the model's API")
    parser.add_argument("--folder", type=Path, help="where logs and data stay; else they go")
    options = parser.parse_args(argv)
    shape = Shape(options.proxies, options.workers, upstream=options.upstream)
    # A pipe, not an Event: a handler that sets one can meet the very lock that `wait` holds.
    told, tell = os.pipe()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.write(tell, b"."))
    with _folder(options.folder) as folder, topology(folder, shape) as made:
        for name, url in made.urls.items():
            print(f"{name:<10} {url}  {made.log(name)}")
        print(f"\nbase URL   {made.url}/v1\nCtrl-C ends it all.", flush=True)
        os.read(told, 1)
    return 0


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
    else:
        with tempfile.TemporaryDirectory(prefix="memtree-topology-") as made:
            yield Path(made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
