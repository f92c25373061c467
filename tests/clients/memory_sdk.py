"""A client of agent memories that sends what the public TypeScript SDK of their contract sends,
byte for byte: headers, paths with their queries, texts that wallets sign.

It knows nothing of this project but a wallet's key, so that it cannot share a mistake with it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.made.wallets import Wallet

Json = dict[str, Any]
GRANT_PREFIX = "zkstash:grant:v1:"
SHARE_PREFIX = "zkg1_"


class SdkError(Exception):
    """The server answered with another status than 2xx."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


def dumped(value: Any) -> str:
    """Write a value as `JSON.stringify` does."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class MemorySdk:
    """Either `key`, a bearer, or `wallet`. `base`: with or without a prefix. `grants`: sent with
    every search, unless it asks for its own memories alone."""

    def __init__(self, base: str, key: str = "", wallet: Wallet | None = None) -> None:
        parts = urlsplit(base)
        self._host, self._prefix = parts.netloc, parts.path
        self._key, self._wallet = key, wallet
        self.grants: list[Json] = []

    # -- memories ----------------------------------------------------------------------------

    def create_memory(self, agent: str, **fields: Any) -> Json:
        return self.send("POST", "/memories", {"agentId": agent, **fields})

    def batch_create_memories(self, agent: str, memories: Sequence[Json], **fields: Any) -> Json:
        body = {"agentId": agent, "memories": list(memories), **fields}
        return self.send("POST", "/memories/batch/create", body)

    def search_memories(self, query: str, scope: str = "all", **filters: Any) -> Json:
        if isinstance(filters.get("tags"), list):
            filters["tags"] = ",".join(filters["tags"])
        asked = {"query": query, **filters, **({} if scope == "all" else {"scope": scope})}
        return self.send("GET", f"/memories/search?{urlencode(asked)}", grants=scope != "own")

    def batch_search(self, queries: Sequence[Json], scope: str = "all") -> Json:
        body = {"queries": list(queries), **({} if scope == "all" else {"scope": scope})}
        return self.send("POST", "/memories/batch/search", body, grants=scope != "own")

    def get_memory(self, id_: str) -> Json:
        return self.send("GET", f"/memories/{id_}")

    def update_memory(self, id_: str, **changes: Any) -> Json:
        return self.send("PATCH", f"/memories/{id_}", changes)

    def delete_memory(self, id_: str) -> Json:
        return self.send("DELETE", f"/memories/{id_}")

    def batch_delete(self, ids: Sequence[str] | None = None, **filters: Any) -> Json:
        body: Json = {"filters": filters} if ids is None else {"ids": list(ids)}
        return self.send("POST", "/memories/batch/delete", body)

    def batch_update(self, ids: Sequence[str], **update: Any) -> Json:
        return self.send("POST", "/memories/batch/update", {"ids": list(ids), "update": update})

    # -- schemas -----------------------------------------------------------------------------

    def register_schema(self, name: str, description: str, shape: Json, **more: Any) -> Json:
        """`shape`: as `z.toJSONSchema` makes it."""
        document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **shape,
                    "additionalProperties": False}  # fmt: skip
        body = {"name": name, "description": description, "schema": dumped(document), **more}
        return self.send("POST", "/schemas", body)

    def list_schemas(self) -> Json:
        return self.send("GET", "/schemas")

    def update_schema(self, name: str, **changes: Any) -> Json:
        return self.send("PATCH", f"/schemas/{name}", changes)

    def delete_schema(self, name: str) -> Json:
        return self.send("DELETE", f"/schemas/{name}")

    # -- grants ------------------------------------------------------------------------------

    def create_grant(
        self, grantee: str, agent: str = "", subject: str = "", days: float = 7
    ) -> tuple[Json, str]:
        """The signed grant and its share code."""
        assert self._wallet
        payload = {"f": self._wallet.address, "g": grantee, "e": int(time.time() + days * 86_400)}
        payload |= {"a": agent} if agent else {}
        payload |= {"u": subject} if subject else {}
        text = dumped(dict(sorted(payload.items())))
        signed = self._wallet.sign(GRANT_PREFIX + base64.b64encode(text.encode()).decode())
        grant = {"p": payload, "s": signed, "c": str(self._wallet.chain)}
        code = base64.urlsafe_b64encode(dumped(grant).encode()).decode().rstrip("=")
        return grant, SHARE_PREFIX + code

    def add_grant(self, code: str) -> None:
        raw = code.removeprefix(SHARE_PREFIX)
        self.grants.append(json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4))))

    # -- the wire ----------------------------------------------------------------------------

    def send(self, method: str, path: str, body: Any = None, *, grants: bool = False) -> Json:
        """`path`: what is appended to the base URL, and signed, with its query."""
        text = "" if body is None else dumped(body)
        headers = {"content-type": "application/json", **self._credentials(method, path, text)}
        if grants and self.grants:
            headers["x-grants"] = base64.b64encode(dumped(self.grants).encode()).decode()
        connection = HTTPConnection(self._host, timeout=600)
        try:
            raw = None if body is None else text.encode()
            connection.request(method, self._prefix + path, raw, headers)
            answer = connection.getresponse()
            shown = json.loads(answer.read())
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise SdkError(answer.status, shown)
        return dict(shown)

    def _credentials(self, method: str, path: str, text: str) -> dict[str, str]:
        if self._wallet is None:
            return {"authorization": f"Bearer {self._key}"}
        timestamp = str(int(time.time() * 1000))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {
            "x-wallet-address": self._wallet.address,
            "x-wallet-timestamp": timestamp,
            "x-wallet-signature": self._wallet.sign(f"{method}|{path}|{digest}|{timestamp}"),
        }
