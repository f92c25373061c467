"""The examples of docs/chat-memory.md, run as they stand there against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.served.running import running
from tests.http.wire.documented import DOCUMENT, METHODS
from tests.made.scripted import Call, Say, Scripted
from tests.programs.server import PATIENCE, Server
from tests.programs.server import running as serving

pytestmark = [pytest.mark.slow, pytest.mark.clients]

PAGE = (Path(__file__).parents[3] / "docs" / "chat-memory.md").read_text("utf-8")
CHAT = "/chat/api/550e8400-e29b-41d4-a716-446655440000"
DEADLINE = "The project deadline is March 15, 2026"
SAVE = Call("save_memory", {"content": DEADLINE})


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


class Shown:
    """A server in front of a scripted model, and the examples run against it."""

    def __init__(self, server: Server, upstream: Scripted) -> None:
        self.server, self.upstream = server, upstream

    def run(self, command: list[str], name: str, key: str) -> str:
        text = block(name).replace("http://127.0.0.1:8787", self.server.url)
        done = subprocess.run(
            [*command, text], env=os.environ | {"OPENAI_API_KEY": key}, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sh(self, name: str, key: str) -> str:
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        return self.run(["sh", "-ec"], name, key)

    def rows(self, key: str) -> list[dict[str, Any]]:
        answer = self.server.get(f"{CHAT}/memories", authorization=f"Bearer {key}")
        rows: list[dict[str, Any]] = answer.json()["memories"]
        return rows


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    upstream = Scripted()
    with running(upstream) as above:
        store = tmp_path_factory.mktemp("docs") / "docs.db"
        with serving(store, "--upstream", f"{above}/v1") as server:
            yield Shown(server, upstream)


def test_one_header_and_the_sdk(shown: Shown):
    script = shown.upstream.script("minute", [Say("", (SAVE,)), Say("Noted."), Say("March 15.")])
    answer = json.loads(shown.sh("header", "minute"))
    assert answer["choices"][0]["message"]["content"] == "Noted."
    assert [row["content"] for row in shown.rows("minute")] == [DEADLINE]
    told = shown.run([sys.executable, "-c"], "sdk", "minute")
    assert told == "March 15."
    assert DEADLINE in script.seen[2].raw.decode()  # it stands in the prompt


def test_events(shown: Shown):
    posted = {"messageId": "m", "content": DEADLINE}
    made = shown.server.post(f"{CHAT}/memory", posted, authorization="Bearer events").json()
    text = block("events").replace("http://127.0.0.1:8787", shown.server.url)
    with subprocess.Popen(
        ["sh", "-ec", f"exec {text}"], env=os.environ | {"OPENAI_API_KEY": "events"},
        stdout=subprocess.PIPE, text=True,
    ) as curl:  # fmt: skip
        assert curl.stdout
        data = next(line for line in curl.stdout if line.startswith("data: ")).removeprefix(
            "data: "
        )
        curl.kill()  # the stream has no end
    shape = re.search(r"^data: (\{.*\})$", PAGE, re.MULTILINE)
    assert shape
    assert set(json.loads(data)) == set(json.loads(shape[1]))
    assert json.loads(data)["id"] == made["id"]


def test_the_memory_that_is_shown_has_the_fields_of_one(shown: Shown):
    example = re.search(r"^A memory:\n\n```json\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert example
    posted = {"messageId": "msg_abc123", "content": DEADLINE}
    shown.server.post(f"{CHAT}/memory", posted, authorization="Bearer fields")
    (row,) = shown.rows("fields")
    said = json.loads(example[1])
    assert list(row) == list(said)
    changing = {"id", "created_at", "updated_at", "last_confirmed_at"}
    assert {k: v for k, v in row.items() if k not in changing} == {
        k: v for k, v in said.items() if k not in changing
    }
    assert {len(row[name]) - len(said[name]) for name in changing} == {0}


def routes(prefix: str) -> set[tuple[str, str]]:
    """Methods and paths of the API below a prefix, with one name for the id of a memory."""
    return {
        (method, path.removeprefix(prefix).replace("{memoryId}", "{memory_id}"))
        for path, item in DOCUMENT["paths"].items()
        if path.startswith(f"{prefix}/memor")
        for method in METHODS
        if method in item
    }


def test_the_routes_are_those_of_users_as_the_page_says():
    chats = routes("/chat/api/{chatId}") - {("post", "/memory")}
    assert len(chats) > 10
    assert chats < routes("")
    for _, path in chats:
        assert f"/{path.rpartition('/')[2]}`".replace("memory_id", "memoryId") in PAGE, path
