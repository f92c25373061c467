"""Shell examples of the pages, run in this process: `memtree` as the function that it is, curl
against a server of the test. Of a shell, words, quotes, `|`, `>` and `export` are understood."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memtree.config import Settings
from memtree_proxy.cli.main import build_parser, main
from memtree_proxy.cli.parser_parts import given_settings
from tests.docs.pages import ROOT
from tests.programs.server import PATIENCE

# They run until they are stopped: their options are read, and nothing more.
RUN_ON = {"serve", "worker", "mcp"}
MEMTREE = {"memtree", ".venv/bin/memtree"}
SERVER = "http://127.0.0.1:8787"


@dataclass(frozen=True, slots=True)
class Command:
    """`variables`: put before it. `into`: the file that its output goes to."""

    words: tuple[str, ...]
    variables: dict[str, str]
    into: str | None = None


def read(text: str) -> Iterator[list[Command]]:
    """The pipelines of a block, line by line."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
        lexer.whitespace_split = True
        pipeline = list(_commands(list(lexer)))
        if pipeline:
            yield pipeline


def _commands(words: Sequence[str]) -> Iterator[Command]:
    while words:
        end = words.index("|") if "|" in words else len(words)
        now, words = list(words[:end]), words[end + 1 :]
        into = None
        if ">" in now:
            into = now[now.index(">") + 1]
            now = now[: now.index(">")]
        variables = {}
        while now and "=" in now[0] and now[0].partition("=")[0].isupper():
            name, _, value = now.pop(0).partition("=")
            variables[name] = value
        if now:
            yield Command(tuple(now), variables, into)


class Desk:
    """A folder in which the lines of a block are run."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        patch.setenv("MEMTREE_STORE", f"sqlite:///{folder}/examples.db")
        patch.setenv("MEMTREE_EMBEDDER", "none")
        patch.setenv("MEMTREE_UPSTREAM", "none")
        patch.setenv("MEMTREE_PORT", "0")
        self.folder, self._capsys, self._patch = folder, capsys, patch
        self._codes: tuple[int, ...] = (0,)

    def run(self, text: str, codes: tuple[int, ...] = (0,)) -> list[str]:
        """Return what each line says, on standard output. `codes`: how its commands may end."""
        self._codes = codes
        return [self._pipeline(line) for line in read(text)]

    def _pipeline(self, commands: list[Command]) -> str:
        said = ""
        for command in commands:
            said = self._one(command, said)
            if command.into:
                (self.folder / command.into).write_text(said)
        return said

    def _one(self, command: Command, given: str) -> str:
        program, *words = self._globbed(command.words)
        if program == "export":
            name, _, value = words[0].partition("=")
            self._patch.setenv(name, value)
            return ""
        assert program in MEMTREE, f"{program} is no command that is understood here"
        with self._patch.context() as patch:
            for name, value in command.variables.items():
                patch.setenv(name, value)
            if words[0] in RUN_ON:
                return check_settings(words)
            typed = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
            patch.setattr("sys.stdin", typed)
            self._capsys.readouterr()
            code = main(words)
        printed = self._capsys.readouterr()
        assert code in self._codes, (words, printed.out, printed.err)
        return printed.out

    def _globbed(self, words: Sequence[str]) -> Iterator[str]:
        for word in words:
            home = word.replace("~", str(self.folder), 1) if word.startswith("~/") else word
            found = sorted(self.folder.glob(word)) if "*" in word and word[0].isalpha() else []
            yield from (str(path.relative_to(self.folder)) for path in found) if found else [home]


def check_settings(words: Sequence[str]) -> str:
    """Options of a command that runs on: they exist, and their values can be read."""
    options = build_parser().parse_args(words)
    Settings.from_env(given_settings(options))
    return ""


def made_by_make(line: str) -> list[str]:
    """The `memtree` command that a line with make would run."""
    said = subprocess.run(
        [*shlex.split(line, comments=True), "-n", "-o", "install"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (found,) = [one for one in said.splitlines() if ".venv/bin/memtree" in one]
    return shlex.split(found.partition(".venv/bin/memtree")[2])


def answers(block: str, server: str, folder: Path | None = None) -> list[Any]:
    """Return what the curls of a block answer, run by the shell, in a folder with the files they
    name."""
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    done = subprocess.run(
        ["sh", "-ec", block.replace(SERVER, server).replace("curl ", "curl -s ")],
        env={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "examples", "KEY": "examples",
             "APP_KEY": "examples"},
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    decoder, found, rest = json.JSONDecoder(), [], done.stdout.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found
