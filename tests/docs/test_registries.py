"""Check what registries and agents read says what the project says: versions, addresses,
commands."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import yaml

from memtree import __version__
from memtree.config import Settings, variable
from memtree_proxy.cli.main import build_parser
from scripts import llms_txt
from tests.docs.pages import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text())


def test_the_map_is_made_from_the_contents():
    assert llms_txt.main(["--check"]) == 0
    assert (ROOT / "llms.txt").read_text() == llms_txt.MAP.read_text()


def test_the_map_names_every_page_for_users():
    text = llms_txt.MAP.read_text()
    _, _, for_developers = (ROOT / "docs" / "README.md").read_text().partition("## Working on it")
    others = {"README.md", *re.findall(r"\]\(([\w-]+\.md)\)", for_developers)}
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - others
    assert len(pages) > 20
    assert {page for page in pages if f"/docs/{page})" not in text} == set()


def test_the_entry_of_the_mcp_registry_is_this_package():
    """The names and limits are those of the registry's schema of 2025-12-11."""
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == __version__
    assert SERVER["repository"]["url"] == PROJECT["urls"]["Repository"]
    assert len(SERVER["description"]) <= 100
    assert set(SERVER) == {
        "$schema", "name", "title", "description", "repository", "version", "packages"
    }  # fmt: skip
    assert package["identifier"] == PROJECT["name"]
    assert package["transport"] == {"type": "stdio"}
    (command,) = package["packageArguments"]
    assert command["value"] in build_parser().commands
    known = {variable(name) for name in Settings.__dataclass_fields__} | {"MEMTREE_HOME"}
    assert {entry["name"] for entry in package["environmentVariables"]} <= known


def test_the_readme_proves_whose_the_entry_is():
    assert f"mcp-name: {SERVER['name']} " in (ROOT / "README.md").read_text()


def test_the_chart_has_the_same_version():
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "memtree" / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
    assert chart["version"] == __version__.replace("rc", "-rc")


def test_agents_are_pointed_at_what_contributors_read():
    text = (ROOT / "AGENTS.md").read_text()
    assert "CONTRIBUTING.md" in text
    assert "llms.txt" in text
