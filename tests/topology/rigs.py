"""The topology with its models, the faults that it is given, and the way to its settled state."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from redis import Redis

from deploy.topology import Shape, Topology, topology
from memtree.config import Settings
from memtree.jobs.embedding import open_embedder
from memtree.stores import open_store
from memtree_proxy.http.auth import tenant_id
from tests.programs.server import PATIENCE
from tests.topology import judged
from tests.topology.database import Database
from tests.topology.models import Models, serving
from tests.topology.talks import Talk, until

UNAVAILABLE = (502, 503)  # of the balancer, or of us
TARGET = "4000"  # tokens: small, so that conversations are folded more than once


@dataclass(slots=True)
class Rig:
    """`faults`: when parts were out of order, (begin, end) in unix seconds."""

    parts: Topology
    database: Database
    models: Models
    settings: dict[str, str]
    faults: list[tuple[float, float]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.parts.url

    @property
    def proxies(self) -> list[str]:
        return [name for name in self.parts.names if name.startswith("proxy-")]

    @property
    def workers(self) -> list[str]:
        return [name for name in self.parts.names if name.startswith("worker-")]

    @property
    def logs(self) -> Mapping[str, Path]:
        ours = (*self.proxies, *self.workers, "balancer")
        return {name: self.parts.log(name) for name in ours}

    @contextmanager
    def fault(self) -> Iterator[None]:
        """Make a fault in whose block models may be asked the same again: leases last 15 s."""
        begun = time.time()
        try:
            yield
        finally:
            self.faults.append((begun, time.time() + 20))

    def killed(self, name: str, seconds: float = 0.0) -> None:
        """SIGKILL, and a new start after a while."""
        with self.fault():
            self.parts.kill(name)
            time.sleep(seconds)
            self.parts.start(name)

    def frozen(self, name: str, seconds: float) -> None:
        with self.fault():
            self.parts.freeze(name)
            time.sleep(seconds)
            self.parts.thaw(name)

    def redis(self) -> Redis:
        return Redis.from_url(self.parts.urls["redis"])

    # -- settled ------------------------------------------------------------------------------

    def settle(self, talks: Sequence[Talk]) -> None:
        """Every conversation is posted once more, and nothing is pending then. Once is enough:
        Redis keeps what it holds, so nothing that was submitted is lost."""
        for talk in talks:
            self.index(talk)
        for talk in talks:
            until(lambda talk=talk: self._idle(talk))

    def index(self, talk: Talk) -> None:
        """Post it once more, until nothing that is needed for it is out of order."""
        until(lambda: self._indexed(talk))

    def _indexed(self, talk: Talk) -> bool:
        answer = self._post("", talk, index_only=True)
        if answer.status_code != 202:
            assert answer.status_code in UNAVAILABLE, answer.text
            return False
        return not answer.json()["memory"]["state"].startswith("degraded:store")

    def _idle(self, talk: Talk) -> bool:
        for name in self.proxies:
            url = f"{self.parts.urls[name]}/v1/context_memory/status"
            found = httpx.get(url, headers=talk.headers, timeout=PATIENCE, trust_env=False).json()
            if found["pending_jobs"] or found["summaries"]["pending_nodes"]:
                return False
        return True

    def _post(self, path: str, talk: Talk, **fields: Any) -> httpx.Response:
        return httpx.post(
            f"{self.url}/v1/context_memory{path}", json={"messages": talk.messages, **fields},
            headers=talk.headers, timeout=PATIENCE, trust_env=False,
        )  # fmt: skip

    # -- judged -------------------------------------------------------------------------------

    def problems(self, talks: Sequence[Talk]) -> list[str]:
        """Everything that is wrong with these settled conversations."""
        seen = list(self.models.chat.seen)
        return [
            *(f"{talk.key}: {problem}" for talk in talks for problem in talk.problems),
            *judged.wrong_requests(talks, seen),
            *judged.wrong_epochs(talks, seen),
            *judged.paid_again(self.models.summaries.log, self.faults),
            *judged.told(self.logs, talks),
            *judged.tracebacks(self.logs),
        ]

    async def losses(self, talks: Sequence[Talk]) -> list[str]:
        """Nodes of trees without what they must have by now, and what `memtree check` finds."""
        store = open_store(self.settings["MEMTREE_STORE"])
        embedder, _ = await open_embedder(Settings.from_env({}, self.settings), patient=True)
        assert embedder
        stored, bodies = self.database.stored(), list[tuple[str, float]]()
        found = [] if (told := self._checked()) is None else [told]
        try:
            for talk in talks:
                nodes = self._post("/tree", talk).raise_for_status().json()["nodes"]
                sealed = [one for one in nodes if one["sealed"]]
                leaves = [bytes.fromhex(one["id"]) for one in sealed if not one["level"]]
                kept = await store.vectors(tenant_id(talk.key), embedder.recipe, leaves)
                bare = [one for one in sealed if one["summary"] != "model"]
                ids = [bytes.fromhex(one["id"]) for one in nodes]
                texts = await store.newest_summaries(tenant_id(talk.key), ids)
                bodies += [(texts[id_].body, at) for id_, at in stored.items() if id_ in texts]
                if not leaves or len(kept) < len(leaves):
                    found.append(f"{talk.key}: vectors of {len(kept)} of {len(leaves)} leaves")
                if bare:
                    levels = [one["level"] for one in bare]
                    found.append(f"{talk.key}: no summary of {levels} of {len(nodes)} nodes")
        finally:
            await embedder.close()
            await store.close()
        if not bodies:
            found.append("no summary was noted when it was stored")
        return [*found, *judged.asked_when_stored(self.models.summaries.log, bodies)]

    def _checked(self) -> str | None:
        command = [sys.executable, "-m", "memtree_proxy.cli", "check"]
        command += ["--store", self.settings["MEMTREE_STORE"]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else done.stdout + done.stderr


@contextmanager
def rigged(folder: Path, **more: str) -> Iterator[Rig]:
    """Two proxies, two workers, a balancer, Redis and PostgreSQL."""
    with serving() as models:
        settings = {**models.settings, "MEMTREE_TARGET_TOKENS": TARGET, **more}
        with topology(folder, Shape(upstream=models.upstream, settings=settings)) as parts:
            settings["MEMTREE_STORE"] = parts.urls["postgres"]
            database = Database(parts.urls["postgres"])
            database.watch()
            yield Rig(parts, database, models, settings)
