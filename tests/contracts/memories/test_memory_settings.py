"""Settings of a user and plans of tenants in every store."""

from __future__ import annotations

import asyncio

from memtree.memories.scope import Scope
from memtree.memories.user_memories import PLAN, SettingsChange, UserSettings
from tests.contracts.memory_backends import InEveryStore, save

USER, OTHER = Scope.of_user("tenant"), Scope.of_user("tenant", "other")


class TestUserSettings(InEveryStore):
    async def test_nothing_is_stored_until_something_is_changed(self, memories, store):
        assert await memories.settings(USER) == UserSettings()
        assert await memories.plan("tenant") == PLAN
        assert not any((await store.counts()).values())

    async def test_what_is_changed_stays(self, memories):
        changed = await memories.change_settings(USER, SettingsChange(save=True, threshold=1 / 3))
        assert changed == UserSettings(save=True, threshold=1 / 3)
        changed = await memories.change_settings(USER, SettingsChange(history=True, top_k=20))
        assert changed == UserSettings(save=True, history=True, top_k=20, threshold=1 / 3)
        changed = await memories.change_settings(USER, SettingsChange(save=False, threshold=0.0))
        assert changed == UserSettings(save=False, history=True, top_k=20, threshold=0.0)
        assert await memories.settings(USER) == changed
        assert await memories.settings(OTHER) == UserSettings()
        assert (await memories.state(USER)).changed == 0  # a setting is no memory

    async def test_of_many_changes_none_is_lost(self, memories):
        changes = [SettingsChange(save=True), SettingsChange(history=True), SettingsChange(top_k=7)]
        await asyncio.gather(*(memories.change_settings(USER, each) for each in changes))
        assert await memories.settings(USER) == UserSettings(save=True, history=True, top_k=7)

    async def test_a_plan_is_the_tenant_s(self, memories):
        await memories.set_plan("tenant", "free")
        assert await memories.plan("tenant") == "free"
        assert await memories.plan("another") == PLAN
        await memories.set_plan("tenant", "pro")
        assert await memories.plan("tenant") == "pro"

    async def test_who_erases_all_keeps_the_plan_alone(self, memories):
        """The plan was given by whoever runs the store."""
        await save(memories, USER, "one")
        for scope in (USER, OTHER):
            await memories.change_settings(scope, SettingsChange(save=True))
        await memories.add_extracted(USER, b"digest", [], most=0)
        await memories.set_plan("tenant", "free")
        assert await memories.erase_memories("tenant") == 1
        assert await memories.settings(USER) == await memories.settings(OTHER) == UserSettings()
        assert await memories.extracted(USER, [b"digest"]) == set()
        assert await memories.plan("tenant") == "free"
