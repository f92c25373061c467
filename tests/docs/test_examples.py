"""Every example of README and docs is run by some test, or says here why not."""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from memtree.config import Settings
from tests.docs.pages import ROOT, Block, block, blocks, pages
from tests.http.wire.documented import DOCUMENT, resolved, rooted

# What is not run: outputs and drawings, which tests of what they show compare.
SHOWN = {"", "text"}

# Pages whose blocks of a language are all read by one test, without marks.
READ_WHOLE = {
    ("docs/agent-memories.md", "json"): "tests/clients/documented/test_memory_pages.py",
    ("docs/chat-memory.md", "json"): "tests/clients/documented/test_memory_pages.py",
    ("docs/clients.md", "json"): "tests/docs/test_examples.py",
    ("docs/clients.md", "yaml"): "tests/docs/test_examples.py",
    ("docs/coming-from.md", "json"): "tests/clients/documented/test_other_pages.py",
    ("docs/deployment.md", "nginx"): "tests/deploy/documented/test_documented.py",
    ("docs/documents.md", "json"): "tests/clients/documented/test_memory_pages.py",
    ("docs/context-memory.md", "python"): "tests/unit/context/test_excerpts_checked.py",
    ("docs/memories.md", "json"): "tests/docs/test_examples.py",
    ("docs/remember.md", "json"): "tests/http/chat_memories/test_remember_page.py",
    ("docs/remember.md", "sh"): "tests/http/chat_memories/test_remember_page.py",
    ("docs/remember.md", "toml"): "tests/http/chat_memories/test_remember_page.py",
    ("docs/usage.md", "json"): "tests/docs/test_server_examples.py",
    ("docs/user-memories.md", "json"): "tests/clients/documented/test_memory_pages.py",
}

# By page and first line: what keeps a test from running it.
NOT_RUN = {
    ("docs/clients.md", "cline --auto-approve"): "needs Cline; `make agents` drives it",
    ("docs/coming-from.md", "import json"): "needs a key of mem0's hosted service",
    ("docs/deployment.md", "cp deploy/memtree.env"): "needs Docker, which tests do not have",
    ("docs/deployment.md", "useradd --system"): "needs root and systemd",
    ("docs/deployment.md", "systemd-run"): "needs root and systemd",
    ("README.md", "uvx memtree-proxy"): "needs a published version; `make wheel` runs the wheel",
    ("docs/getting-started.md", "uvx memtree-proxy"): "as in the README",
    ("docs/getting-started.md", "python3 -m venv"): "installs packages for minutes",
    ("docs/clients.md", "uvx memtree-proxy"): "needs Claude Code; `make agents` drives it",
    ("docs/versions.md", "memtree memories export"): "needs 1.0.0rc1; a test imports what it wrote",
    ("docs/versions.md", "memtree memories import"): "as above: a test of the command imports it",
    ("docs/deployment.md", "CREATE ROLE"): "needs the administrator of a database",
    ("docs/deployment.md", "CREATE SCHEMA"): "needs the administrator of a database",
}


def examples() -> list[Block]:
    return [one for page in pages() for one in blocks(page) if one.language not in SHOWN]


def reason(one: Block) -> str | None:
    """Why it is not run."""
    for (page, first), why in NOT_RUN.items():
        if page == one.page and one.first.startswith(first):
            return why
    return None


@cache
def texts_of_tests() -> tuple[str, ...]:
    """Return the text of every test file. Does not enter folders of installed programs."""
    texts = []
    for folder, folders, names in os.walk(ROOT / "tests"):
        folders[:] = sorted(set(folders) - {"node_modules", ".venv", "__pycache__"})
        tests = (name for name in sorted(names) if fnmatch(name, "test_*.py"))
        texts += [Path(folder, name).read_text("utf-8") for name in tests]
    return tuple(texts)


@cache
def asking(page: str) -> str:
    """All test files that name a page, as one text."""
    name = page.removeprefix("docs/")
    return "\n".join(text for text in texts_of_tests() if f'"{name}"' in text or f'"{page}"' in text
                     or f"docs/{name}" in text)  # fmt: skip


def is_run(one: Block) -> bool:
    """Tell whether a test asks for it by name or reads its page, or it is said here why not."""
    if one.name is not None:
        return f'"{one.name}"' in asking(one.page)
    if (one.page, one.language) in READ_WHOLE:
        return (ROOT / READ_WHOLE[one.page, one.language]).is_file()
    return reason(one) is not None


def test_each_is_run_by_a_test():
    not_run = [f"{one.page}:{one.line}" for one in examples() if not is_run(one)]
    assert not_run == [], "mark it `<!-- tested: NAME -->` and run it, or say here why not"


def test_what_is_said_here_is_true():
    all_examples = examples()
    for page, language in READ_WHOLE:
        assert any((one.page, one.language) == (page, language) for one in all_examples), page
    for page, first in NOT_RUN:
        assert any(one.page == page and one.first.startswith(first) for one in all_examples), first


def test_no_command_hides_in_an_indented_block():
    """Indented blocks have no language and no mark."""
    for page in pages():
        hidden = re.findall(r"\n\n {4}(?:\$ )?(?:memtree|make|curl|pip) ", page.read_text("utf-8"))
        assert hidden == [], page.name


# -- options and files that pages name


def options() -> set[str]:
    """All that `memtree` and its commands take: what parsers name, and settings."""
    parsers = (path.read_text("utf-8") for path in (ROOT / "proxy/memtree_proxy/cli").rglob("*.py"))
    named = {one for text in parsers for one in re.findall(r'"(--[a-z][a-z-]+)"', text)}
    settings = {field.name.replace("_", "-") for field in fields(Settings)}
    return named | {f"--{name}" for name in settings} | {f"--no-{name}" for name in settings}


# Options of other programs that the pages name.
OTHERS = {"--compaction", "--model-settings-file", "--max-chat-history-tokens", "--transport",
          "--header", "--scope", "--data-binary", "--data-urlencode", "--workers", "--folder",
          "--help", "--url", "--minutes", "--against", "--beside", "--release", "--out",
          "--settings", "--model", "--pre", "--raise", "--mcp-config", "--openai-base-url",
          "--openai-api-base", "--data-dir", "--config"}  # fmt: skip


def test_every_option_exists():
    known = options() | OTHERS
    for page in pages():
        text = "\n".join(
            line for line in page.read_text("utf-8").splitlines() if "docker" not in line
        )
        spans = re.findall(r"`([^`\n]+)`", text)
        for span in spans:
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", span):
                assert option in known, (page.name, span)


# -- configuration files of clients


def test_configurations_of_clients():
    yaml = pytest.importorskip("yaml")
    shown = [one for one in blocks(ROOT / "docs/clients.md") if one.language in ("json", "yaml")]
    assert len(shown) >= 6
    for one in shown:
        read = json.loads(one.text) if one.language == "json" else yaml.safe_load(one.text)
        text = json.dumps(read)
        assert "x-polychat-memory" in text
        for url in re.findall(r'"(http[^"]+)"', text):
            assert urlsplit(url)[:3] == ("http", "127.0.0.1:8787", "/v1")


def test_options_of_one_request_are_as_documented():
    (one,) = [one for one in blocks(ROOT / "docs/memories.md") if one.language == "json"]
    operation = DOCUMENT["paths"]["/chat/completions"]["post"]
    schema = resolved(operation["requestBody"])["content"]["application/json"]["schema"]
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **json.loads(one.text)}
    assert not list(rooted(schema).iter_errors(body))


def test_models_of_your_own_are_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    for name in ("summaries", "embeddings"):
        for line in block("docs/models.md", name).splitlines():
            variable, _, value = line.partition("#")[0].strip().partition("=")
            assert variable.startswith("MEMTREE_")
            monkeypatch.setenv(variable, value)
    settings = Settings.from_env()
    assert (settings.summary_model, settings.embedding_model) == ("gpt-5-nano", "bge-m3")
