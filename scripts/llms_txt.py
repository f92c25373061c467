"""Write the map of the documentation for language models: `python scripts/llms_txt.py [--check]`.

The map is `llms.txt` (https://llmstxt.org) with absolute addresses, made from the tables of
docs/README.md and the project's address in pyproject.toml. It lies with the web pages, since a
server shows it at /llms.txt; `llms.txt` at the top is a link to it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAP = ROOT / "proxy" / "memtree_proxy" / "web" / "llms.txt"
ROW = re.compile(r"^\| (?P<task>[^|]+) \| \[(?P<title>[^\]]+)\]\((?P<page>[^)]+)\) \|$")
HEAD = """\
# MemTree

> MemTree gives any LLM client an endless conversation: an OpenAI-compatible proxy (Messages and
> Responses, too) that replaces the old part of a long history by a tree of summaries with verbatim
> excerpts. Beside it, a store of memories.

Install and start: `uvx memtree-proxy` serves on http://127.0.0.1:8787. Point a client's base URL at
it and send the header `x-polychat-memory: on`. A running server describes all its routes at
/openapi.json; the memory tools are at /mcp.
"""


def written(project: str, contents: str) -> str:
    """Return the map. `project`: the repository's address. `contents`: docs/README.md."""
    lines = [HEAD.rstrip()]
    for line in contents.partition("## Working on it")[0].splitlines():
        if line.startswith("## "):
            lines.append(f"\n{line}\n")
        elif row := ROW.match(line):
            place = f"{project}/raw/main/docs/{row['page']}"
            lines.append(f"- [{row['title']}]({place}): {row['task']}")
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    """The exit code is 1 if `--check` finds another text than there should be."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    text = written(urls["Repository"], (ROOT / "docs" / "README.md").read_text())
    if "--check" in arguments:
        return int(MAP.read_text() != text)
    MAP.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
