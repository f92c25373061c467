"""Tickets between two releases on one Redis: the package of RQ's function has another name in each.

A worker of before runs RQ's own job, which imports the function by the name that it holds; the
module of that name is put in its place.
"""

from __future__ import annotations

import sys
import types

import pytest

from memtree_indexer import ledger
from memtree_indexer.ledger import EMBED, JobLedger
from memtree_indexer.payloads import tenant_name
from tests.contracts.queues import Chat, said
from tests.redis.benches import embedded, submit

BEFORE, NOW = "indexer.redis.rq_job.run", "memtree_indexer.redis.rq_job.run"


@pytest.mark.parametrize("name", [BEFORE, NOW])
async def test_a_worker_takes_tickets_of_both_releases(bench, monkeypatch, name):
    monkeypatch.setattr(ledger, "RUN", name)
    chat = await Chat("a", said("wolfsbane", 3)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    (ticket,) = JobLedger(bench.client).queues(EMBED)[0].jobs
    assert ticket.func_name == name
    await bench.work()
    assert await embedded(bench, chat) == set(chat.ids)


async def test_a_worker_of_before_takes_tickets_of_now(bench, monkeypatch):
    taken = []
    module = types.ModuleType("indexer.redis.rq_job")
    module.run = lambda *names: taken.append(names)
    for name in ("indexer", "indexer.redis"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    submit(bench, await Chat("a", said("wolfsbane", 3)).plant(bench.store))
    await bench.arrived()
    (ticket,) = JobLedger(bench.client).queues(EMBED)[0].jobs
    ticket.perform()
    assert taken == [(EMBED, tenant_name("a"), ticket.id)]


async def test_a_worker_runs_no_other_function(bench, monkeypatch):
    """Whoever may write into Redis may not choose what runs."""
    monkeypatch.setattr(ledger, "RUN", "os.getcwd")
    chat = await Chat("a", said("wolfsbane", 3)).plant(bench.store)
    submit(bench, chat)
    await bench.work()
    assert await embedded(bench, chat) == set()
