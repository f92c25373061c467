"""The report on summaries: which nodes, what is asked and paid, what is shown."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.errors import BadRequest
from memtree.summaries import audit_report
from memtree.tree.node import Node, NodePlace, Summary
from memtree.tree.work import NodeWork
from memtree_proxy.cli.history import audit, audit_page
from memtree_proxy.cli.main import main
from tests.made.embeddings import Status
from tests.made.summaries import SHORT, Summaries, invented, serving
from tests.programs.sessions import coding

MESSAGES = tuple(Message(json.dumps(one).encode()) for one in coding(14_000))
HOSTILE = (
    '<script>alert(1)</script> "><img src=x onerror=alert(2)> </pre></section>\x1b]0;x\x07[red]'
)


def settings(folder, url=None, **more):
    base = Settings(store=f"sqlite:///{folder}/s.db", embedder="none", index_processes=False)
    named = {"summary_base_url": url, "summary_model": "m"} if url else {}
    return replace(base, **named, **more)


# ---------------------------------------------------------------- which nodes


def works(*counts):
    """Nodes of levels 0, 1 ..., so many of each."""
    return [
        NodeWork(
            Node(bytes([level, n]), level, 1, 1, 0, Summary("", "")), NodePlace(n, 0, n + 1, 0)
        )
        for level, count in enumerate(counts)
        for n in range(count)
    ]


@pytest.mark.parametrize("count", range(1, 40))
def test_a_sample_has_so_many_and_some_of_each_level(count):
    found = audit_report.sample(works(25, 5, 1), count)
    assert len({one.id for one in found}) == len(found) == min(count, 31)
    assert {one.node.level for one in found} == set(range(min(count, 3)))
    assert found == audit_report.sample(reversed(works(25, 5, 1)), count)


def test_a_sample_is_spread_over_the_history():
    leaves = [one.place.first for one in audit_report.sample(works(100), 4)]
    assert leaves == [12, 37, 62, 87]
    assert audit_report.sample([], 4) == []


def test_an_extraction_is_checked_against_what_it_was_made_of():
    told, vague = "The server listens on port 8080.", "The server listens on a port."
    child = Node(b"c", 0, 9, 1, 0, Summary("Port 8080", told))
    parent = Node(b"p", 1, 9, 1, 0, Summary("Port 8080", told), children=(b"c",))
    history = read("t", [Message(b'{"role":"user","content":"x"}')], Volatile(()))
    later = {b"c": Summary("A port", vague, version=1), b"p": Summary("A port", told, version=1)}
    work = NodeWork(parent, NodePlace(0, 0, 1, 0))
    first = {b"c": child, b"p": parent}
    found = audit_report.entry(history, work, "coding", first, later, audit_report.STORED)
    assert found.text == (("note", "A port"),)
    assert found.extraction.problems == ()
    assert [one.name for one in found.model.problems] == ["number"]  # the child does not have it


# ---------------------------------------------------------------- what is asked


@pytest.mark.slow
async def test_without_a_model_extraction_is_shown(tmp_path):
    report = await audit.audited(MESSAGES, settings(tmp_path), 5)
    assert len(report.entries) == 5
    assert {one.level for one in report.entries} == {0, 1}
    for one in report.entries:
        assert one.extraction.headline
        assert one.text
        assert (one.model, one.state, one.cost) == (None, audit_report.NONE, (0, 0))
    assert (report.model, report.calls) == ("", 0)
    assert "nothing was asked" in audit.spent(report)


@pytest.mark.slow
async def test_what_lacks_a_summary_is_asked_for_once_and_kept(tmp_path):
    async with serving(Summaries()) as server:
        given = settings(tmp_path, server.url, summary_input_price=1.0)
        report = await audit.audited(MESSAGES, given, 5)
        leaves = [one for one in report.entries if not one.level]
        assert server.calls == report.calls == len(leaves) == 4
        assert [one.state for one in leaves] == [audit_report.WRITTEN] * 4
        assert all(SHORT in one.model.body and not one.model.problems for one in leaves)
        assert sum(one.cost[0] for one in leaves) == report.input == server.input_tokens
        assert report.money == pytest.approx(report.input / 1e6)
        # Made of its children's summaries, so it cannot come before them.
        assert [one.state for one in report.entries if one.level] == [audit_report.WAITING]
        again = await audit.audited(MESSAGES, given, 5)
        assert (again.calls, server.calls) == (0, 4)
        assert [one.state for one in again.entries if not one.level] == [audit_report.STORED] * 4
        assert [one.model for one in again.entries] == [one.model for one in report.entries]
        assert "nothing was asked" in audit.spent(again)


@pytest.mark.long
@pytest.mark.slow
async def test_the_indexer_goes_on_where_the_report_ended(tmp_path):
    async with serving(Summaries()) as server:
        given = settings(tmp_path, server.url)
        await audit.audited(MESSAGES, given, 5)
        async with open_runtime(given) as runtime:
            await runtime.memory.index(CompressRequest("local", MESSAGES, patience=UNHURRIED))
            await runtime.settle()
        assert set(server.summarised.values()) == {1}
        report = await audit.audited(MESSAGES, given, 100)
        assert {one.state for one in report.entries} == {audit_report.STORED}
        assert len(report.entries) == report.nodes == len(server.summarised)


@pytest.mark.slow
async def test_a_rejected_draft_is_shown_with_what_is_wrong(tmp_path):
    async with serving(Summaries(always=invented)) as server:
        report = await audit.audited(MESSAGES, settings(tmp_path, server.url), 2)
        leaf, _ = report.entries
        assert server.calls == report.calls == 2  # asked once more, as the indexer does
        assert leaf.state == audit_report.REJECTED
        assert "FlumeOverrunError" in leaf.model.body
        assert "anchor" in {one.name for one in leaf.model.problems}
        assert leaf.cost[0] == report.input
        again = (await audit.audited(MESSAGES, settings(tmp_path, server.url), 2)).entries[0]
        assert (again.state, again.model) == (audit_report.REJECTED, None)
        assert server.calls == 2


@pytest.mark.slow
async def test_a_model_that_is_down_and_a_limit_are_told(tmp_path):
    async with serving(Summaries(always=Status(401))) as server:
        report = await audit.audited(MESSAGES, settings(tmp_path, server.url), 2)
        assert "401" in report.entries[0].state
        given = settings(tmp_path, server.url, summary_tokens_per_day=100)
        report = await audit.audited(MESSAGES, given, 2)
        assert report.entries[0].state == audit_report.LIMITED
        assert server.calls == 1


# ---------------------------------------------------------------- what is shown


def hostile():
    problem = audit_report.Problem("anchor", HOSTILE)
    version = audit_report.Version(HOSTILE, HOSTILE, 9, (problem,))
    text = ((f"0 {HOSTILE}", HOSTILE), ("1 user", "\ud800"))
    entry = audit_report.AuditEntry(0, (0, 1), 600, text, version, version, HOSTILE, (9, 9))
    return audit_report.Report(1, HOSTILE, (entry,), 1, 2, 3, 0.5, True)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_shows_hostile_text_as_text():
    page = audit_page.page(hostile(), HOSTILE)
    tags = Tags()
    tags.feed(page.encode().decode())
    assert tags.open == []
    known = "html head meta title style body h1 h2 h3 p b pre div section".split()
    assert set(tags.seen) <= set(known)
    assert not [name for name in tags.attributes if name.startswith(("on", "src", "href"))]
    assert page.count("&lt;script&gt;") >= 8
    assert "default-src &#x27;none&#x27;" in page
    assert "prefers-color-scheme: dark" in page


def test_the_terminal_shows_hostile_text_as_text():
    out = StringIO()
    audit.show(Console(file=out, force_terminal=False, width=200), hostile())
    said = out.getvalue()
    assert "[red]" in said
    assert "\x1b" not in said
    assert "\x07" not in said


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "session.json"
    path.write_text(json.dumps(coding(8_000)))
    line = ["audit", str(path), "--embedder", "none", "--store", "memory:"]
    assert main([*line, "--sample", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["entries"]) == 3
    assert main([*line, "--html", "out.html"]) == 0
    assert "no model" in capsys.readouterr().out
    assert (tmp_path / "out.html").read_text().count("<h2>") == 12
    assert main(line) == 0
    assert "12 of" in capsys.readouterr().out
    assert main([*line, "--sample", "0"]) == 1


@pytest.mark.slow
async def test_a_page_that_cannot_be_written(tmp_path):
    path = tmp_path / "session.json"
    path.write_text(json.dumps(coding(2_000)))
    options = Namespace(file=str(path), sample=2, html=str(tmp_path / "no" / "x"), json=False)
    with pytest.raises(BadRequest, match="No such file"):
        await audit.run(options, settings(tmp_path))
