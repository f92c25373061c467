"""Memories of users, chats and agents, and documents: the app over an empty store, and what is
asked of it. What differs between these kinds stands in a class of each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar, TypeVar

import httpx
import pytest

from memtree.agents.schema_book import SchemaBook
from memtree.memories.book import MemoryRules
from memtree.memories.scope import Scope
from memtree.ports.context_store import Credentials
from memtree.ports.models import Embedder
from memtree_proxy.http.auth import tenant_id
from tests.http.served.fakes import FakeKeys, FakeMemory, edge
from tests.unit.memories.books import Opened, opened

KEY = {"authorization": "Bearer key"}
TYPESCRIPT = "User prefers TypeScript for new projects"
PORTS = "# Ports\n\nStaging listens on port 8090.\n"
AGENT = "agent-007"
LATER = 1_924_992_000_000  # milliseconds: in 2031
# A kind of which each scope has one memory with one name, and a kind without such a rule.
PROFILE = (
    "UserProfile",
    '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, '
    '"required": ["name"], "additionalProperties": false}',
    ("name",),
)
INTERACTION: tuple[str, str, tuple[str, ...]] = (
    "Interaction",
    '{"type": "object", "properties": {"topic": {"type": "string"}}}',
    (),
)


class Asking:
    """A client with the `key` of a `tenant`. `whom`: whose memories; "": those that the tests of a
    kind are about.

    TEXT, ROWS, HITS    fields: of the text, of a list, of what a search answers
    ID                  what errors call the id in a path
    LIST, NEW, SEARCH   paths below the root
    """

    TEXT: ClassVar[str] = "text"
    ROWS: ClassVar[str] = "memories"
    HITS: ClassVar[str] = "memories"
    ID: ClassVar[str] = "memory_id"
    LIST: ClassVar[str] = ""
    NEW: ClassVar[str] = ""
    SEARCH: ClassVar[str] = "/search"

    def __init__(self, client: httpx.AsyncClient, opened: Opened, key: str = "key") -> None:
        self.client, self.opened, self.book = client, opened, opened.book
        self.key, self.tenant = {"authorization": f"Bearer {key}"}, tenant_id(key)

    def at(self, path: str, whom: str) -> tuple[str, dict[str, str]]:
        """A path below the root, and the headers that name whom it is about."""
        return f"/v1/memories{path}", {"x-user-id": whom} if whom else {}

    def named(self, whom: str) -> dict[str, str]:
        """The fields of queries and bodies that do."""
        return {}

    def posted(self, text: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Return what is posted to store a text."""
        return {self.TEXT: text, **fields}

    async def ask(self, method: str, path: str = "", whom: str = "", **more: Any) -> httpx.Response:
        url, headers = self.at(path, whom)
        headers = {**self.key, **headers, **more.pop("headers", {})}
        return await self.client.request(method, url, headers=headers, **more)

    async def got(
        self, method: str, path: str = "", whom: str = "", status: int = 200, **more: Any
    ) -> Any:
        """The JSON of an answer with this status."""
        answer = await self.ask(method, path, whom, **more)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def post(
        self, text: Any = TYPESCRIPT, whom: str = "", *, headers: Any = (), **fields: Any
    ) -> httpx.Response:
        posted = {**self.posted(text, fields), **self.named(whom)}
        return await self.ask("POST", self.NEW, whom, json=posted, headers=dict(headers))

    async def saved(self, text: str = TYPESCRIPT, whom: str = "", **fields: Any) -> dict[str, Any]:
        answer = await self.post(text, whom, **fields)
        assert answer.status_code == 201, answer.text
        return self.made(answer.json())

    def made(self, answer: Any) -> dict[str, Any]:
        """The row of what was just stored."""
        return dict(answer)

    async def id_of(self, text: str = TYPESCRIPT, whom: str = "", **fields: Any) -> str:
        return str((await self.saved(text, whom, **fields))["id"])

    async def rows(self, whom: str = "", **query: Any) -> list[dict[str, Any]]:
        query = {**self.named(whom), **query}
        rows: list[dict[str, Any]] = (await self.got("GET", self.LIST, whom, params=query))[
            self.ROWS
        ]
        return rows

    def text(self, row: Mapping[str, Any]) -> str:
        return str(row[self.TEXT])

    def about(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields that a row has of its memory."""
        return row

    async def ids(self, whom: str = "", **query: Any) -> list[str]:
        return [row["id"] for row in await self.rows(whom, **query)]

    async def texts(self, whom: str = "", **query: Any) -> list[str]:
        return [self.text(row) for row in await self.rows(whom, **query)]

    async def found(self, query: str, whom: str = "", **more: Any) -> list[dict[str, Any]]:
        params = {"query": query, **self.named(whom), **more}
        rows: list[dict[str, Any]] = (await self.got("GET", self.SEARCH, whom, params=params))[
            self.HITS
        ]
        return rows

    async def many(self, what: str, whom: str = "", **posted: Any) -> Any:
        """Several are deleted or brought back."""
        return await self.got(
            "POST", f"{self.LIST}/{what}", whom, json={**posted, **self.named(whom)}
        )

    def scope(self, whom: str = "") -> Scope:
        return Scope.of_user(self.tenant, whom)


class Users(Asking):
    async def group(
        self, title: str = "Work Projects", whom: str = "", **fields: Any
    ) -> dict[str, Any]:
        posted = {"title": title, **fields}
        group: dict[str, Any] = await self.got("POST", "/groups", whom, 201, json=posted)
        return group

    async def put(self, group: str, *ids: str, whom: str = "") -> dict[str, Any]:
        """Memories into a group."""
        added: dict[str, Any] = await self.got(
            "POST", f"/groups/{group}/memories", whom, json={"memory_ids": ids}
        )
        return added


class Chats(Asking):
    TEXT, ID = "content", "memoryId"
    LIST, NEW, SEARCH = "/memories", "/memory", "/memories/search"

    def at(self, path: str, whom: str) -> tuple[str, dict[str, str]]:
        return f"/chat/api/{whom or 'c1'}{path}", {}

    def posted(self, text: Any, fields: dict[str, Any]) -> dict[str, Any]:
        return {"messageId": "msg_abc123", "content": text, **fields}

    def scope(self, whom: str = "") -> Scope:
        return Scope.of_chat(self.tenant, whom or "c1")


class Agents(Asking):
    """A text is stored as a note."""

    def __init__(self, client: httpx.AsyncClient, opened: Opened, key: str = "key") -> None:
        super().__init__(client, opened, key)
        self.book_of_schemas = SchemaBook(opened.store, opened.clock)

    def at(self, path: str, whom: str) -> tuple[str, dict[str, str]]:
        return f"/v1/memories{path}", {}

    def named(self, whom: str) -> dict[str, str]:
        return {"agentId": whom or AGENT}

    def posted(self, text: Any, fields: dict[str, Any]) -> dict[str, Any]:
        request = {
            name: fields.pop(name) for name in [*fields] if name in ("subjectId", "threadId")
        }
        return {"memories": [{"kind": "Note", "data": {"text": text}, **fields}], **request}

    def made(self, answer: Any) -> dict[str, Any]:
        (row,) = answer["created"]
        return dict(row)

    def text(self, row: Mapping[str, Any]) -> str:
        return str(row["data"]["text"])

    def about(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(row.get("memory", row)["metadata"])

    def scope(self, whom: str = "", subject: str = "") -> Scope:
        return Scope.of_agent(self.tenant, whom or AGENT, subject)

    async def store(
        self, *memories: dict[str, Any], agent: str = AGENT, **fields: Any
    ) -> httpx.Response:
        headers = fields.pop("headers", {})
        posted = {"agentId": agent, "memories": memories, **fields}
        return await self.ask("POST", json=posted, headers=headers)

    async def stored(
        self, *memories: dict[str, Any], agent: str = AGENT, **fields: Any
    ) -> dict[str, Any]:
        """Return what became of memories that were all taken."""
        answer = await self.store(*memories, agent=agent, **fields)
        assert answer.status_code in (200, 201), answer.text
        shown: dict[str, Any] = answer.json()
        assert shown["success"] is True
        return shown

    async def noted(self, text: str = "Call", agent: str = AGENT, **fields: Any) -> str:
        """The id of one new memory."""
        return await self.id_of(text, agent, **fields)

    async def data(self, agent: str = AGENT, **query: Any) -> list[dict[str, Any]]:
        """Return the data of all that is listed, the newest first."""
        return [row["data"] for row in await self.rows(agent, **query)]

    async def one(self, id_: str, **query: Any) -> dict[str, Any]:
        memory: dict[str, Any] = (await self.got("GET", f"/{id_}", params=query))["memory"]
        return memory

    async def schemas(self, *kinds: tuple[str, str, tuple[str, ...]]) -> None:
        """Kinds with their schemas and what is unique of them."""
        for kind, document, unique_on in kinds:
            await self.book_of_schemas.put(self.tenant, kind, document, unique_on)


class Filing(Asking):
    ID, ROWS, HITS = "documentId", "documents", "passages"
    LIST = NEW = "/documents"

    def at(self, path: str, whom: str) -> tuple[str, dict[str, str]]:
        return f"/v1/rag/{whom or 'handbook'}{path}", {}

    async def put(
        self, id_: str = "ports.md", text: str = PORTS, whom: str = "", **fields: Any
    ) -> dict[str, Any]:
        return await self.saved(text, whom, id=id_, **fields)

    def scope(self, whom: str = "") -> Scope:
        return Scope.of_namespace(self.tenant, whom or "handbook")


Kind = TypeVar("Kind", bound=Asking)


@asynccontextmanager
async def serving(
    kind: type[Kind],
    embedder: Embedder | None = None,
    *,
    base: str | None = None,
    keys: Credentials | None = None,
    memory: Any = None,
    rules: MemoryRules | None = None,
    beside: Opened | None = None,
    **settings: Any,
) -> AsyncIterator[Kind]:
    """`base`: the upstream's address. `beside`: another server on the same store."""
    async with opened(embedder, rules, beside) as of:
        made = edge(
            base, memory or FakeMemory(), keys or FakeKeys(), book=of.book, memories=of.store,
            **settings,
        )  # fmt: skip
        async with made as client:
            yield kind(client, of)


users = partial(serving, Users)
chats = partial(serving, Chats)
agents = partial(serving, Agents)
filing = partial(serving, Filing)


def each(*kinds: type[Asking]) -> pytest.MarkDecorator:
    """A test of these kinds."""
    return pytest.mark.parametrize("kind", kinds, ids=[kind.__name__ for kind in kinds])


def error(answer: httpx.Response, status: int, code: str, param: str | None) -> str:
    """The message of an error in the shape of the OpenAI API."""
    shown = answer.json()
    assert (answer.status_code, set(shown)) == (status, {"error"}), answer.text
    shown = shown["error"]
    assert set(shown) == {"message", "type", "param", "code", "request_id"}
    assert (shown["code"], shown["param"]) == (code, param), shown
    assert shown["type"] == "invalid_request_error"
    return str(shown["message"])


def wrong(answer: httpx.Response, param: str | None) -> str:
    """The message of an error that names a field."""
    return error(answer, 400, "invalid_request", param)


def counts(receipt: dict[str, Any]) -> tuple[int, bool]:
    """How many memories went, and whether that is verified."""
    assert set(receipt) == {"deleted", "verified", "apart"}
    assert receipt["apart"]["other_scopes"] == "kept"
    return receipt["deleted"], receipt["verified"]
