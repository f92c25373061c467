"""What the doctor says of a model for summaries."""

from __future__ import annotations

from argparse import Namespace

from memtree.config import Settings
from proxy.cli import doctor
from tests.embeddings import Status
from tests.summaries import Answer, Summaries, serving


async def says(capsys, url=None):
    """Exit code, and the line about summaries."""
    model = {"summary_base_url": url, "summary_model": "m", "summary_api_key": "sk-hidden"}
    settings = Settings(
        store="memory:", embedder="none", upstream=None, log_level="error", **(model if url else {})
    )
    code = await doctor.run(Namespace(), settings)
    said = " ".join(capsys.readouterr().out.split())
    assert "sk-hidden" not in said
    return code, said[said.index(" summaries ") :]


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
