"""Everybody who can have memories, each with a word of its own: it must show in no answer that is
about somebody else's.

    fill    memories in every state, in the scope of each owner
    Ask     a way to ask: whose credential, which user, which agent and subject
    seen    whose words stand in an answer
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memtree.memories.book import MemoryBook
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.memory import MemorySource
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores import Memories
from memtree_proxy.http.auth import tenant_id

MINE, OTHER = tenant_id("key"), tenant_id("other")
KEY, OTHER_KEY = {"authorization": "Bearer key"}, {"authorization": "Bearer other"}
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)
THREAD = "thread-1"


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    scope: Scope
    word: str


def _owners() -> tuple[Owner, ...]:
    scopes = {
        "the tenant": Scope.of_user(MINE),
        "user u1": Scope.of_user(MINE, "u1"),
        "user a": Scope.of_user(MINE, "a"),
        "chat a": Scope.of_chat(MINE, "a"),
        "namespace a": Scope.of_namespace(MINE, "a"),
        "agent a": Scope.of_agent(MINE, "a"),
        "agent a of s": Scope.of_agent(MINE, "a", "s"),
        "agent a of t": Scope.of_agent(MINE, "a", "t"),
        "agent a of u1": Scope.of_agent(MINE, "a", "u1"),
        "agent b": Scope.of_agent(MINE, "b"),
        "agent b of s": Scope.of_agent(MINE, "b", "s"),
        "agent A": Scope.of_agent(MINE, "A"),
        "agent s": Scope.of_agent(MINE, "s"),
        "agent u1": Scope.of_agent(MINE, "u1"),
        "another tenant": Scope.of_user(OTHER),
        "user u1 elsewhere": Scope.of_user(OTHER, "u1"),
        "agent a elsewhere": Scope.of_agent(OTHER, "a"),
        "agent a of s elsewhere": Scope.of_agent(OTHER, "a", "s"),
    }
    return tuple(
        Owner(name, scope, f"quokka{chr(97 + at)}x")
        for at, (name, scope) in enumerate(scopes.items())
    )


OWNERS = _owners()


@dataclass(slots=True)
class Kept:
    """Ids of what an owner has, by what became of it."""

    live: str = ""
    changed: str = ""
    newer: str = ""
    older: str = ""
    deleted: str = ""
    forgotten: str = ""
    twin: str = ""
    ids: list[str] = field(default_factory=list)


async def fill(book: MemoryBook, owner: Owner) -> Kept:
    """All of them hold the owner's word in each field that answers may show."""
    kept, scope, word = Kept(), owner.scope, owner.word

    async def save(name: str, **more: Any) -> str:
        draft = MemoryDraft(
            f"{word} {name} sings in Linden Street",
            category="fact",
            tags=(f"tag-{word}", "shared"),
            source_provider=word,
            session_id=word,
            thread_id=THREAD,
            source=MemorySource(message=word, digest=word, end=9),
            kind="Note",
            data={"text": f"{word} {name}", word: {"inner": [word]}},
            **more,
        )
        id_ = (await book.save(scope, draft, DedupPolicy.INSERT)).memory.id
        setattr(kept, name, id_)
        kept.ids.append(id_)
        return id_

    for name in ("live", "changed", "older", "deleted", "forgotten", "twin"):
        await save(name)
    await book.edit(scope, kept.changed, Edit(text=f"{word} changed its song in Linden Street"))
    newer = MemoryDraft(f"{word} newer sings in Linden Street", kind="Note", data={"text": word})
    kept.newer = (await book.correct(scope, kept.older, newer, word)).memory.id
    kept.ids.append(kept.newer)
    await book.delete(scope, [kept.deleted])
    await book.forget(scope, kept.forgotten, word)
    return kept


async def filled(book: MemoryBook) -> dict[Owner, Kept]:
    return {owner: await fill(book, owner) for owner in OWNERS}


def seen(text: str) -> set[str]:
    """The names of the owners whose words stand in a text."""
    text = text.lower()
    return {owner.name for owner in OWNERS if owner.word in text}


async def everything(store: Memories, owner: Owner) -> list[Any]:
    """All that is stored of an owner."""
    page = await store.page(owner.scope, EVERY, limit=1_000)
    return [
        page,
        await store.records(owner.scope),
        await store.tombstones(owner.scope),
        await store.state(owner.scope),
    ]


@dataclass(frozen=True, slots=True)
class Ask:
    """`user`: of the header `x-user-id`. `agents`: agentId and subjectId."""

    name: str
    tenant: str = MINE
    user: str = ""
    agents: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def headers(self) -> dict[str, str]:
        key = KEY if self.tenant == MINE else OTHER_KEY
        return {**key, **({"x-user-id": self.user} if self.user else {})}

    @property
    def several(self) -> bool:
        return "*" in self.agents.values()

    @property
    def sees(self) -> set[str]:
        """Whose memories it is about, where it is no question for one by its id."""
        if not self.agents:
            return _names(Scope.of_user(self.tenant, self.user))
        return self._agents(self.agents.get("agentId"), self.agents.get("subjectId", ""))

    @property
    def sees_by_id(self) -> set[str]:
        """An id needs no agent's name: the user's own, and any agent's of the tenant."""
        return self.sees if self.agents else self.sees | self.all_agents

    @property
    def all_agents(self) -> set[str]:
        return self._agents("*", "*")

    def _agents(self, agent: str | None, subject: str) -> set[str]:
        return {
            owner.name
            for owner in OWNERS
            if owner.scope.tenant == self.tenant
            and owner.scope.kind is ScopeKind.AGENT
            and agent in ("*", owner.scope.owner)
            and subject in ("*", owner.scope.subject)
        }


def _names(scope: Scope) -> set[str]:
    return {owner.name for owner in OWNERS if owner.scope == scope}


def _asks() -> Iterable[Ask]:
    for tenant, place in ((MINE, ""), (OTHER, " elsewhere")):
        yield Ask(f"the tenant{place}", tenant)
        yield Ask(f"user u1{place}", tenant, "u1")
        yield Ask(f"agent a{place}", tenant, "", {"agentId": "a"})
        yield Ask(f"agent a of s{place}", tenant, "", {"agentId": "a", "subjectId": "s"})
        yield Ask(f"all agents of all{place}", tenant, "", {"agentId": "*", "subjectId": "*"})
    yield Ask("user a", MINE, "a")
    yield Ask("agent b, beside a user", MINE, "u1", {"agentId": "b"})
    yield Ask("agent a of t, beside a user", MINE, "a", {"agentId": "a", "subjectId": "t"})
    yield Ask("agent A", MINE, "", {"agentId": "A"})
    yield Ask("agent s", MINE, "", {"agentId": "s"})
    yield Ask("agent s of a", MINE, "", {"agentId": "s", "subjectId": "a"})
    yield Ask("agent a of all", MINE, "", {"agentId": "a", "subjectId": "*"})
    yield Ask("all agents", MINE, "", {"agentId": "*"})
    yield Ask("all agents of s", MINE, "", {"agentId": "*", "subjectId": "s"})
    yield Ask("nobody", MINE, "u9", {"agentId": "nobody"})


ASKS = {ask.name: ask for ask in _asks()}
