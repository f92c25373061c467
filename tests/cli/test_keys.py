"""`memtree keys` and `memtree tenants` called in this process, over a store in a file."""

from __future__ import annotations

import asyncio
import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memtree.agents.memory_schema import MemorySchema
from memtree.memories.memory_store import ANY
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup, SettingsChange
from memtree.ports.context_store import IndexBatch
from memtree.stores import open_store
from memtree_proxy.cli.main import main
from memtree_proxy.http.auth import tenant_id
from tests.contracts.backends import address, frontier, leaf
from tests.contracts.memory_backends import new


class Terminal:
    """The command line over one store, typed by somebody who never sees a hash of a secret."""

    def __init__(
        self, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.url, self._capsys, self._monkeypatch = url, capsys, monkeypatch
        self.printed = ""

    def run(self, *words: str, typed: str = "") -> list[str]:
        """The lines of a command that succeeds; a key that it makes stands alone on standard
        output, what is said about it on the other."""
        code, out, err = self._run(words, typed)
        assert code == 0
        if not err:
            return out
        (value,) = out
        named, once = err.splitlines()
        return [named, value, once]

    def refused(self, *words: str, typed: str = "") -> str:
        """Return what a command says that changes nothing."""
        before = self.everything()
        code, out, err = self._run(words, typed)
        assert code == 1
        assert self.everything() == before
        return err or " ".join(out)

    def _run(self, words: tuple[str, ...], typed: str) -> tuple[int, list[str], str]:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main([*words, "--store", self.url])
        printed = self._capsys.readouterr()
        self.printed += printed.out + printed.err
        return code, printed.out.splitlines(), printed.err

    def tenant(self, value: str) -> str | None:
        async def work() -> str | None:
            store = open_store(self.url)
            tenant = await store.tenant_of(value)
            await store.close()
            return tenant

        return asyncio.run(work())

    def remember(self, tenant: str, number: int = 0) -> None:
        """Give the tenant an address and three nodes."""

        async def work() -> None:
            store = open_store(self.url)
            leaves = tuple(leaf(number + n) for n in range(3))
            await store.commit(
                tenant, IndexBatch(leaves, {address(number): frontier(leaves, 3)}, 86_400.0)
            )
            await store.close()

        asyncio.run(work())

    def everything(self) -> list[tuple[Any, ...]]:
        async def work() -> list[tuple[Any, ...]]:
            store = open_store(self.url)
            rows = [row async for page in store.pages() for row in page.rows]
            await store.close()
            return rows

        return asyncio.run(work())


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    return Terminal(f"sqlite:///{tmp_path}/store.db", capsys, monkeypatch)


def test_a_key_is_rotated_and_keeps_its_tenant(terminal: Terminal) -> None:
    _, old, _ = terminal.run("keys", "create", "laptop")
    tenant = terminal.tenant(old)
    named, new, once = terminal.run("keys", "add-value", "laptop")
    assert named.endswith("  laptop")
    assert "only time" in once
    assert terminal.tenant(new) == terminal.tenant(old) == tenant
    (left,) = terminal.run("keys", "remove-value", "laptop", typed=f"{old}\n")
    assert "1 value(s) left" in left
    assert (terminal.tenant(old), terminal.tenant(new)) == (None, tenant)
    _, newest, _ = terminal.run("keys", "add-value", named.split()[0], "--only")
    assert (terminal.tenant(new), terminal.tenant(newest)) == (None, tenant)
    assert [terminal.printed.count(value) for value in (old, new, newest)] == [1, 1, 1]


def test_values_of_ones_own_are_not_printed(terminal: Terminal) -> None:
    terminal.run("keys", "create", "laptop", "--value", "first-value")
    terminal.run("keys", "add-value", "laptop", "--value", "-", typed=" second-value \n")
    terminal.run("keys", "add-value", "laptop", "--value", "third-value")
    assert {terminal.tenant(f"{nth}-value") for nth in ("first", "second", "third")} == {
        terminal.tenant("first-value")
    }
    terminal.run("keys", "remove-value", "laptop", "--value", "third-value")
    terminal.run("keys", "list")
    assert "-value" not in terminal.printed


def test_what_changes_no_key(terminal: Terminal) -> None:
    terminal.run("keys", "create", "laptop", "--value", "v1")
    terminal.run("keys", "create", "phone", "--value", "v2")
    assert "laptop already" in terminal.refused("keys", "create", "laptop")
    assert "this value" in terminal.refused("keys", "create", "tablet", "--value", "v1")
    assert "this value" in terminal.refused("keys", "add-value", "laptop", "--value", "v2")
    assert "no key tablet" in terminal.refused("keys", "add-value", "tablet")
    assert "no key tablet" in terminal.refused("keys", "revoke", "tablet")
    assert "no key tablet" in terminal.refused("keys", "create", "tv", "--tenant", "tablet")
    assert "only value" in terminal.refused("keys", "remove-value", "laptop", "--value", "v1")
    assert "does not have" in terminal.refused("keys", "remove-value", "phone", typed="v1")
    assert "empty" in terminal.refused("keys", "remove-value", "phone")
    assert "--value" in terminal.refused("keys", "create", "tv", "--keep-memory")
    assert "nothing is kept" in terminal.refused(
        "keys", "create", "tv", "--keep-memory", "--value", "v9"
    )


def test_a_label_that_two_old_keys_have_is_told_with_their_ids(terminal: Terminal) -> None:
    (first, _), (second, _) = (
        terminal.run("keys", "create", label, "--value", label)[0].split() for label in "ab"
    )
    with closing(sqlite3.connect(terminal.url.removeprefix("sqlite:///"))) as db, db:
        db.execute("UPDATE keys SET label = 'a'")
    said = terminal.refused("keys", "revoke", "a")
    assert first in said
    assert second in said
    terminal.run("keys", "revoke", second)
    assert terminal.tenant("a")
    assert terminal.tenant("b") is None
    terminal.run("keys", "revoke", "a")
    assert terminal.tenant("a") is None


def test_a_plan_is_of_the_tenant_and_all_its_keys(terminal: Terminal) -> None:
    _, old, _ = terminal.run("keys", "create", "laptop")
    terminal.run("keys", "create", "guest", "--plan", "free")
    tenant = terminal.tenant(old)
    terminal.run("keys", "create", "phone", "--tenant", "laptop")

    def plans() -> dict[str, str]:
        rows = [line.split() for line in terminal.run("keys", "list")]
        return {row[1]: row[row.index("plan") + 1] for row in rows}

    assert plans() == {"laptop": "pro", "guest": "free", "phone": "pro"}
    assert terminal.run("keys", "plan", "phone", "free") == [f"tenant {tenant}  plan free"]
    assert plans() == {"laptop": "free", "guest": "free", "phone": "free"}
    terminal.run("keys", "create", "desk", "--tenant", "laptop")
    assert plans()["desk"] == "free"  # it says nothing of a plan
    terminal.run("keys", "create", "tv", "--tenant", "laptop", "--plan", "pro")
    terminal.run("keys", "plan", "-", "free", typed=f"{old}\n")
    terminal.run("keys", "plan", str(tenant), "pro")
    assert plans()["laptop"] == "pro"
    assert "no key nobody" in terminal.refused("keys", "plan", "nobody", "free")
    with pytest.raises(SystemExit):
        terminal.run("keys", "plan", "phone", "gold")
    with pytest.raises(SystemExit):
        terminal.run("keys", "create", "other", "--plan", "gold")


def test_memory_of_a_revoked_key_goes_to_another(terminal: Terminal) -> None:
    terminal.run("keys", "create", "laptop", "--value", "lost")
    tenant = terminal.tenant("lost")
    assert tenant
    terminal.remember(tenant)
    revoked, hint, last = terminal.run("keys", "revoke", "laptop")
    assert revoked.startswith("revoked key_")
    assert revoked.endswith(f"tenant {tenant}")
    assert last.startswith("No key is left")
    terminal.run("keys", "create", "laptop", "--value", "found", *hint.split("LABEL ")[1].split())
    assert terminal.tenant("found") == tenant
    (line,) = terminal.run("tenants", "list")
    assert line == f"{tenant}  key laptop  1 addresses and 3 nodes  kept until 1970-01-02"


def test_a_revoked_key_whose_memory_another_key_reaches(terminal: Terminal) -> None:
    terminal.run("keys", "create", "laptop", "--value", "v1")
    terminal.remember(terminal.tenant("v1") or "")
    terminal.run("keys", "create", "phone", "--value", "v2", "--tenant", "laptop")
    assert terminal.tenant("v1") == terminal.tenant("v2")
    assert len(terminal.run("keys", "revoke", "laptop")) == 1


def test_memory_moves_to_a_key_that_is_there_already(terminal: Terminal) -> None:
    for label, value in (("old", "v1"), ("new", "v2")):
        terminal.run("keys", "create", label, "--value", value)
    old, new = terminal.tenant("v1"), terminal.tenant("v2")
    assert old
    assert new
    assert "no memory" in terminal.refused("tenants", "move", "old", "new")
    terminal.remember(old)
    terminal.remember(new, 10)
    assert "1 addresses and 3 nodes" in terminal.refused("tenants", "move", "old", "new")
    (said,) = terminal.run("tenants", "move", "old", "new", "--replace")
    assert "FROM begins anew" in said
    assert (terminal.tenant("v1"), terminal.tenant("v2")) == (new, old)
    (line,) = terminal.run("tenants", "list")
    assert line.startswith(f"{old}  key new")
    (said,) = terminal.run("tenants", "move", old, "old", "--share")
    assert "FROM does, too" in said
    assert (terminal.tenant("v1"), terminal.tenant("v2")) == (old, old)
    assert terminal.run("tenants", "move", "old", "new") == ["they are one tenant already"]


def test_memory_of_a_time_without_keys(terminal: Terminal) -> None:
    """A bare credential becomes a key, or its memory goes to one."""
    for number, tenant in enumerate((tenant_id("sk-a"), tenant_id("sk-b"), "anonymous")):
        terminal.remember(tenant, number * 10)
    terminal.run("keys", "create", "a", "--keep-memory", "--value", "sk-a")
    assert terminal.tenant("sk-a") == tenant_id("sk-a")
    _, made, _ = terminal.run("keys", "create", "b")
    assert "no key lets TO in" in terminal.refused("tenants", "move", "-", "-", typed="sk-b\nsk-c")
    terminal.run("tenants", "move", "-", "b", typed="sk-b\n")
    assert terminal.tenant(made) == tenant_id("sk-b")
    terminal.run("keys", "create", "me", "--tenant", "anonymous", "--value", "sk-m")
    assert terminal.tenant("sk-m") == "anonymous"
    assert "sk-" not in terminal.printed
    assert "no key tablet" in terminal.refused("tenants", "move", "tablet", "a")


def test_a_tenant_with_saved_memories_and_no_tree_is_listed(terminal: Terminal) -> None:
    terminal.run("keys", "create", "phone", "--value", "v1")
    add = ("memories", "add", "--embedder", "none", "--tenant", "phone")
    terminal.run(*add, "I like tea.")
    (line,) = terminal.run("tenants", "list")
    assert line == f"{terminal.tenant('v1')}  key phone  1 saved memory"
    terminal.run(*add, "I live in Graz.", "--chat", "c")
    terminal.remember(terminal.tenant("v1") or "")
    (line,) = terminal.run("tenants", "list")
    assert "nodes, 2 saved memories  kept until" in line


def test_memories_move_with_their_tenant_and_nobody_meets_those_of_another(
    terminal: Terminal,
) -> None:
    terminal.run("keys", "create", "old", "--value", "old-value")
    terminal.run("keys", "create", "new", "--value", "new-value")
    add = ("memories", "add", "--embedder", "none", "--tenant")
    listed = ("memories", "list", "--embedder", "none", "--json", "--tenant")
    terminal.run(*add, "old", "The old one likes tea.")
    terminal.run(*add, "new", "The new one likes coffee.", "--chat", "c")
    assert "1 saved memory" in terminal.refused("tenants", "move", "old", "new")
    (said,) = terminal.run("tenants", "move", "old", "new", "--replace")
    assert "1 saved memory" in said
    (row,) = terminal.run(*listed, "new")
    assert "tea" in row
    assert terminal.run(*listed, "old") == []
    assert b"coffee" not in Path(terminal.url.removeprefix("sqlite:///")).read_bytes()


@pytest.mark.parametrize("how", [(), ("--share",)])
def test_schemas_and_wallets_go_along_and_those_of_another_are_free(
    terminal: Terminal, how: tuple[str, ...]
) -> None:
    terminal.run("keys", "create", "old", "--value", "old-value")
    terminal.run("keys", "create", "new", "--value", "new-value")
    tenants = {name: terminal.tenant(f"{name}-value") or "" for name in ("old", "new")}

    async def fill() -> None:
        store = open_store(terminal.url)
        memories = store.memories()
        for name, tenant in tenants.items():
            schema = MemorySchema(f"Kind of {name}", "{}")
            await memories.put_schema(tenant, schema, lambda data: b"", most=5)
            await memories.prove_wallet(f"evm:{name}", tenant, name.encode(), 9e9)
        await memories.add(Scope.of_agent(tenants["old"], "agent"), new("tea"))
        await store.close()

    asyncio.run(fill())
    terminal.run("tenants", "move", "old", "new", *how)

    async def found(value: str) -> tuple[list[str], list[str], list[str]]:
        store = open_store(terminal.url)
        memories = store.memories()
        tenant = await store.tenant_of(value) or ""
        kinds = [each.kind for each in await memories.schemas(tenant)]
        wallets = [address for address, _ in await memories.wallets(tenant)]
        scopes = [scope for scope, _ in await memories.memory_scopes(tenant)]
        await memories.prove_wallet("evm:new", "anybody", b"another", 9e9)
        await store.close()
        return kinds, wallets, [each.owner for each in scopes]

    everything = (["Kind of old"], ["evm:old"], ["agent"])
    assert asyncio.run(found("new-value")) == everything
    assert asyncio.run(found("old-value")) == (everything if how else ([], [], []))


def test_nobody_meets_what_another_deleted_or_switched_on(terminal: Terminal) -> None:
    """All that user memories keep goes along; of who had no memory left, nothing stays."""
    terminal.run("keys", "create", "old", "--value", "old-value")
    terminal.run("keys", "create", "new", "--value", "new-value")
    tenants = {name: terminal.tenant(f"{name}-value") or "" for name in ("old", "new")}

    async def fill() -> None:
        store = open_store(terminal.url)
        memories = store.memories()
        for name, tenant in tenants.items():
            for scope in (Scope.of_user(tenant), Scope.of_namespace(tenant, "papers")):
                await memories.add(scope, new(f"coffee of {name}", id=f"mem_{name}"))
            user = Scope.of_user(tenant)
            await memories.add_group(user, MemoryGroup("grp", f"cups of {name}", 1.0, 1.0), 9)
            await memories.add_members(user, "grp", [f"mem_{name}"])
            await memories.change_settings(user, SettingsChange(save=True))
            await memories.add_extracted(user, name.encode(), [], most=0)
        await memories.delete_matching(Scope.of_user(tenants["new"]), ANY)
        await memories.delete_matching(Scope.of_namespace(tenants["new"], "papers"), ANY)
        await store.close()

    asyncio.run(fill())
    (said,) = terminal.run("tenants", "move", "old", "new")
    assert "2 saved memories" in said

    async def found(value: str) -> dict[str, object]:
        store = open_store(terminal.url)
        memories = store.memories()
        tenant = await store.tenant_of(value) or ""
        user = Scope.of_user(tenant)
        ids = ["mem_old", "mem_new"]
        answer = {
            "stored": [m.id for m in await memories.get(user, ids, deleted=True)],
            "scopes": [scope.kind.value for scope, _ in await memories.memory_scopes(tenant)],
            "groups": [(group.title, group.members) for group in await memories.groups(user)],
            "save": (await memories.settings(user)).save,
            "done": await memories.extracted(user, [b"old", b"new"]),
        }
        assert await store.check() == []
        await store.close()
        return answer

    assert asyncio.run(found("new-value")) == {
        "stored": ["mem_old"],
        "scopes": ["namespace", "user"],
        "groups": [("cups of old", 1)],
        "save": True,
        "done": {b"old"},
    }
    nothing: dict[str, Any] = {
        "stored": [],
        "scopes": [],
        "groups": [],
        "save": None,
        "done": set(),
    }
    assert asyncio.run(found("old-value")) == nothing
    assert b"of new" not in Path(terminal.url.removeprefix("sqlite:///")).read_bytes()
