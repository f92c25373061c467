"""Check what the doctor says of the program itself, and of models: for summaries, of the
upstream."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import httpx2
import pytest

from memtree import __version__
from memtree.config import Settings
from memtree_proxy.cli import doctor
from memtree_proxy.server import part_checks, surroundings
from tests.made.embeddings import Status
from tests.made.summaries import Answer, Summaries, serving
from tests.unit.text.test_tokens import vocabulary


async def says(capsys, url=None):
    """Exit code, and the line about summaries."""
    model = {"summary_base_url": url, "summary_model": "m", "summary_api_key": "sk-hidden"}
    settings = Settings(
        store="memory:", embedder="none", upstream=None, log_level="error", **(model if url else {})
    )
    code = await doctor.run(Namespace(settings=False, json=False), settings)
    said = " ".join(capsys.readouterr().out.split())
    assert "sk-hidden" not in said
    return code, said[said.index(" summaries ") :]


async def head_and_warnings(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The first line, and what follows a first `warning`."""
    settings = Settings(store="memory:", embedder="none", upstream=None, log_level="error")
    assert await doctor.run(Namespace(settings=False, json=False), settings) == 0
    head, _, rest = capsys.readouterr().out.partition("\n")
    return head, " ".join(rest.partition("\nwarning ")[2].split())


async def test_the_distribution_is_named_first(capsys: pytest.CaptureFixture[str]):
    head, warned = await head_and_warnings(capsys)
    assert head.startswith(f"memtree-proxy {__version__} (`memtree` ")
    assert "package" not in warned


async def test_another_projects_distribution_of_our_name_is_a_warning(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stub = tmp_path / "memtree-0.0.1.dist-info"
    stub.mkdir()
    (stub / "METADATA").write_text("Metadata-Version: 2.1\nName: memtree\nVersion: 0.0.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    _, warned = await head_and_warnings(capsys)
    assert warned.startswith("package another project's `memtree` is installed")


async def test_summaries_in_each_form(capsys):
    async with serving(Summaries()) as server:
        code, said = await says(capsys, server.url)
        assert code == 0
        assert "answers in" in said
        assert "with json_schema" in said
        server.refuses, server.tells = {"response_format"}, False
        code, said = await says(capsys, server.url)
        assert code == 0
        assert "without structured output" in said
        assert "counted here" in said


async def test_a_model_that_does_not_work_is_a_problem(capsys):
    async with serving(Summaries(Status(401), Answer("I am well, thank you."))) as server:
        code, said = await says(capsys, server.url)
        assert code == 1
        assert "answers 401 (is summary_api_key right?)" in said
        code, said = await says(capsys, server.url)
        assert code == 1
        assert "nothing that reads as a summary" in said


async def test_without_a_model_nothing_is_wrong(capsys):
    code, said = await says(capsys)
    assert code == 0
    assert "no model is configured" in said


def test_the_window_that_is_assumed_is_named_with_the_models_it_holds_for():
    listed = ["gpt-4o", "llama3.2:3b", "org/mystery", *(f"m{number}" for number in range(6))]
    found = part_checks.models(Settings(), listed)
    assert found.level == "ok"
    assert "an unknown model is taken to have a window of 128,000 tokens" in found.text
    assert "as llama3.2:3b, org/mystery, m0, m1, m2 and 3 more;" in found.text
    assert "gpt-4o" not in found.text
    named = part_checks.models(Settings(window=("*=8192", "llama3.2=32768", "m0=9000")), listed[:4])
    assert "8,192 tokens, as org/mystery;" in named.text
    assert part_checks.models(Settings(), ["gpt-4o"]).text.count(" as ") == 0


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"data": [{"id": "a"}, {"id": 5}, "b", {"id": "c"}]}', ["a", "c"]),
        (b'{"data": null}', []),
        (b'["a"]', []),
        (b"<html>", []),
    ],
)
def test_models_that_an_upstream_lists(body: bytes, names: list[str]):
    assert part_checks.listed_models(httpx2.Response(200, content=body)) == names


async def test_settings_are_shown_behind_the_findings_and_only_on_demand(
    capsys: pytest.CaptureFixture[str],
):
    settings = Settings(store="memory:", embedder="none", upstream=None, log_level="error")
    await doctor.run(Namespace(settings=False, json=False), settings)
    assert "target_tokens" not in capsys.readouterr().out
    await doctor.run(Namespace(settings=True, json=False), settings)
    said = capsys.readouterr().out
    assert 0 < said.index("ok      store") < said.index("target_tokens")


async def test_a_counter_in_the_place_of_toktok_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary().parent))
    monkeypatch.setattr(surroundings, "find_spec", lambda _: None)
    _, warned = await head_and_warnings(capsys)
    assert warned.startswith("tokens counted by tiktoken")
