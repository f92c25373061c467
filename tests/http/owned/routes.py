"""Every route of memories and documents, with whose they are and who may not see them."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.http.owned.kinds import Asking, Chats, Filing, Users, each

CANARY = "The canary of the owner sings at 8090 Linden Street"
OLDER, CHANGED = CANARY.replace("8090", "8089"), CANARY.replace("8090", "8091")
MINE = "Something of my own"
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
KINDS, PEOPLE = each(Users, Chats, Filing), each(Users, Chats)
# Whose the canary is, and by kind who asks: with which key, and of whom.
OWNERS = [(Users, "u1"), (Users, ""), (Chats, "c1"), (Filing, "handbook")]
OTHERS: dict[type[Asking], list[tuple[str, str]]] = {
    Users: [("key", "u2"), ("key", "U1"), ("other", "u1"), ("other", ""), ("", "")],
    Chats: [
        ("key", "c2"), ("other", "c1"), ("key", "C1"), ("key", "c1.."), ("", "c1"), ("key", "c"),
    ],
    Filing: [("other", "handbook"), ("key", "other"), ("key", "Handbook"), ("", "handbook")],
}  # fmt: skip

Route = tuple[str, str, dict[str, Any] | None, int]
# Every route, what it is asked, and the status for who has none of it. `ID`, `GONE`, `GROUP`: of
# the owner, live, deleted, and the group of the first.
SETTLED = {"with": "ID", "action": "replace"}
OF_PEOPLE: list[Route] = [
    ("GET", "LIST", None, 200),
    ("GET", "LIST?include=deleted", None, 200),
    ("POST", "NEW", {"TEXT": MINE}, 201),
    ("GET", "SEARCH?query=canary+Linden+Street", None, 200),
    ("GET", "LIST/tombstones", None, 200),
    ("POST", "LIST/delete", {"ids": ["ID"], "dry_run": True}, 200),
    ("POST", "LIST/delete", {"ids": ["ID"]}, 200),
    ("POST", "LIST/delete", {"all": True, "purge": True}, 200),
    ("POST", "LIST/undelete", {"ids": ["ID", "GONE"]}, 200),
    ("GET", "LIST/ID", None, 404),
    ("PATCH", "LIST/ID", {"TEXT": "Mine now"}, 404),
    ("DELETE", "LIST/ID", None, 404),
    ("DELETE", "LIST/ID?purge=true", None, 404),
    ("POST", "LIST/ID/confirm", None, 404),
    ("GET", "LIST/ID/history", None, 404),
    ("POST", "LIST/ID/settle", SETTLED, 404),
]
ROUTES: dict[type[Asking], list[Route]] = {
    Users: [
        *OF_PEOPLE,
        ("GET", "?group_id=GROUP", None, 404),
        ("GET", "?include=deleted,superseded,expired", None, 200),
        ("GET", "/search?query=canary&include=superseded", None, 200),
        ("GET", "/search?query=canary&group_id=GROUP", None, 404),
        ("GET", "/search?query=canary+Linden+Street&scope=all", None, 200),
        ("GET", "/search?query=canary+Linden+Street&mode=map", None, 200),
        ("GET", "/search?query=canary&agentId=*&subjectId=*&include_superseded=true", None, 200),
        ("POST", "/batch/search", {"queries": [{"query": "canary Linden Street"}]}, 200),
        ("POST", "/batch/delete", {"ids": ["ID"]}, 200),
        ("POST", "/batch/update", {"ids": ["ID"], "update": {"tags": ["mine"]}}, 200),
        ("POST", "/delete", {"filter": {"group_id": "GROUP"}, "purge": True}, 200),
        ("GET", "/settings", None, 200),
        ("PATCH", "/settings", {"top_k": 9}, 200),
        ("GET", "/groups", None, 200),
        ("POST", "/groups", {"title": "Mine"}, 201),
        ("GET", "/groups/GROUP", None, 404),
        ("PATCH", "/groups/GROUP", {"title": "Mine now"}, 404),
        ("DELETE", "/groups/GROUP", None, 404),
        ("POST", "/groups/GROUP/memories", {"memory_ids": ["ID"]}, 404),
        ("DELETE", "/groups/GROUP/memories/ID", None, 404),
        ("GET", "/export", None, 200),
        ("GET", "/user", None, 200),
        ("DELETE", "/user?dry_run=true", None, 200),
        ("DELETE", "/user", None, 200),
    ],
    Chats: OF_PEOPLE,
    Filing: [
        ("GET", "LIST", None, 200),
        ("GET", "LIST?type=canary", None, 200),
        ("GET", "/search?query=canary+Linden+Street", None, 200),
        ("GET", "", None, 200),
        ("GET", "LIST/ID", None, 404),
        ("DELETE", "LIST/ID", None, 404),
        ("DELETE", "LIST/ID?purge=true", None, 404),
        ("DELETE", "", None, 200),
        ("DELETE", "LIST", None, 200),
        ("POST", "NEW", {"TEXT": MINE, "id": "ID"}, 201),
    ],
}
# Streams of events have tests of their own, and so has what is posted to be stored.
ELSEWHERE = {"GET LIST/events", "POST /import", "POST /extract", "POST /batch/create"}
PLACES = {Users: "/memories", Chats: "/chat/api/{chatId}", Filing: "/rag/{namespace}"}


def written(path: str, kind: type[Asking]) -> str:
    for name in ("LIST", "NEW", "SEARCH"):
        path = path.replace(name, getattr(kind, name))
    return path


class Owned:
    """A canary that replaced another one, tainted, in a group, and one that is deleted."""

    def __init__(self, of: Asking, whom: str) -> None:
        self.of, self.whom, self.ids = of, whom, dict[str, str]()

    async def made(self) -> Owned:
        of, whom = self.of, self.whom
        if isinstance(of, Filing):
            await of.put("the_owners.md", CANARY, whom, type="canary", metadata={"canary": 1})
            await of.book.join()
            self.ids = {"ID": "the_owners.md"}
            return self
        old, id_ = await of.id_of(OLDER, whom), await of.id_of(CANARY, whom)
        gone = await of.id_of("A canary that flew away", whom)
        settled = {"with": old, "action": "replace"}
        await of.got("POST", f"{of.LIST}/{id_}/settle", whom, json=settled)
        await of.ask("DELETE", f"{of.LIST}/{gone}", whom)
        self.ids = {"ID": id_, "GONE": gone, "GROUP": "grp_none"}
        if isinstance(of, Users):
            self.ids["GROUP"] = (await of.group("Canaries", whom))["id"]
            await of.put(self.ids["GROUP"], id_, whom=whom)
            await of.got("PATCH", "/settings", whom, json={"memories_save_enabled": True})
        return self

    async def everything(self) -> list[Any]:
        paths: dict[type[Asking], tuple[str, ...]] = {
            Users: ("?include=deleted,superseded,expired", "/settings", "/tombstones", "/groups"),
            Chats: ("/memories?include=deleted", "/memories/tombstones"),
            Filing: ("/documents",),
        }
        one = f"{self.of.LIST}/{self.ids['ID']}"
        each = (*paths[type(self.of)], one, *((f"{one}/history",) if len(self.ids) > 1 else ()))
        return [await self.of.got("GET", path, self.whom) for path in each]

    async def ask(self, route: Route, whom: str, **more: Any) -> httpx.Response:
        method, path, posted, _ = route
        text = json.dumps(posted).replace("TEXT", self.of.TEXT)
        path = written(path, type(self.of))
        for name, id_ in self.ids.items():
            path, text = path.replace(name, id_), text.replace(f'"{name}"', f'"{id_}"')
        body = json.loads(text)
        if path == "/memory":
            body |= {"messageId": "m"}
        return await self.of.ask(method, path, whom, json=body, **more)
