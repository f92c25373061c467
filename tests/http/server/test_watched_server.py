"""A real server process that is watched: its log as JSON, its metrics, its traces; and without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.http.served.running import wait_for
from tests.programs.collector import collecting
from tests.programs.server import Server

pytestmark = pytest.mark.slow

SECRET = "the boat is called Marianne"
FLAGS = ("--embedder=none", "--upstream=none")
LONG = [
    {"role": ("user", "assistant")[at % 2], "content": f"{SECRET}, line {at}. " * 60}
    for at in range(60)
]


def lines(server: Server) -> list[dict[str, Any]]:
    """All log lines; what is printed for a person at the start is none."""
    text = server.log.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_every_line_is_an_object_and_names_its_request(tmp_path: Path):
    with collecting() as collector:
        server = Server(
            tmp_path / "m.db", *FLAGS, "--log-format=json", f"--otel-endpoint={collector.url}",
            variables={"OTEL_BSP_SCHEDULE_DELAY": "100"},
        )  # fmt: skip
        try:
            answer = server.post("/context_memory", {"messages": LONG}, x_request_id="mine")
            assert answer.headers["x-memtree-request-id"] == "mine"
            broken = server.post("/context_memory", {"messages": 7}, x_request_id="broken")
            assert broken.status_code == 400
            page = server.get("/metrics").text
            # What the end of the server delivers has three seconds, which a busy machine may need.
            wait_for(lambda: len(collector.named("POST /context_memory")) == 2)
        finally:
            assert server.stop() == 0
    text = server.log.read_text("utf-8")
    banner, _, rest = text.partition("{")
    assert all(line.startswith("{") for line in ("{" + rest).splitlines())
    assert banner.startswith("MemTree ")
    told = lines(server)
    assert any(one["logger"] == "uvicorn.error" and "message" in one for one in told)
    requests = {one["request"]: one for one in told if one.get("event") == "http.request"}
    assert requests["mine"]["state"] in ("packed", "provisional")
    assert requests["broken"]["status"] == 400
    assert "Marianne" not in text + page + b"".join(collector.raw).decode("latin-1")
    assert 'memtree_requests_total{route="/context_memory",status="200"} 1.0' in page
    assert "memtree_build_info{" in page
    assert 'memtree_indexed_tokens_total{stage="1"}' in page
    assert len(collector.named("POST /context_memory")) == 2


def test_without_an_endpoint_nothing_of_opentelemetry_is_imported():
    code = (
        "import sys, memtree_proxy.server.serve; "
        "print([m for m in sys.modules if 'opentelemetry' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
