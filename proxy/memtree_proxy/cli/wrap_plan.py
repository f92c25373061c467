"""Plan for starting an agent so that it sends its requests to a wrapped path.

A row of the table (`wrap_agents`) makes a plan, which holds values only; `wrap_command` writes the
files into the folder of the run and starts the program. No file of the user's is written.
"""

from __future__ import annotations

import json
import re
import secrets
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from memtree.config import DEFAULT_UPSTREAM
from memtree.errors import BadRequest
from memtree.setting_values import AUTO
from memtree_proxy.server.wrapped_runs import PREFIX

MAX_FILE = 4_000_000  # bytes of a settings file
_WRAPPED = re.compile(r"https?://[^/]*/w/[A-Za-z0-9_-]{32,}(/|$)")
# Keep strings, drop comments: JSON with comments, as opencode and openclaw write it.
# An unclosed string or comment runs to the end, so that nothing is scanned twice.
_STRING = r'("(?:\\[\s\S]|[^"\\])*(?:"|\Z))'
_JSONC = re.compile(_STRING + r"|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)")
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")
_VARIABLE = re.compile(r"\{env:(\w+)\}")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. `args`: all arguments of the program. `variables`: added to the environment. `files`:
    text by name, in the folder of the run; `links`: symbolic links by name, there too. `notes`: for
    the user."""

    args: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(slots=True)
class Wrapping:
    """Input of a plan. `args`: the user's arguments. `env`: the environment; `folder`: of the run;
    `server`: address of the server, without a path. `mint`: makes a token."""

    args: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    server: str
    mint: Callable[[], str] = lambda: secrets.token_urlsafe(32)
    paths: dict[str, dict[str, str]] = field(default_factory=dict)  # upstreams by token

    @property
    def home(self) -> Path:
        return Path(self.env.get("HOME", "~")).expanduser()

    def file(self, name: str) -> str:
        """Return the path of one of the plan's files."""
        return str(self.folder / name)

    def under(self, variable: str, *default: str) -> Path:
        """Return the folder that a variable names, or else a folder below the user's home."""
        return Path(self.env[variable]) if self.env.get(variable) else self.home.joinpath(*default)

    # -- wrapped paths -----------------------------------------------------------------------

    def root(self, upstream: str | None = None, anthropic: str | None = None) -> str:
        """Return the address of a wrapped path, without `/v1`. `upstream`: base URL that the
        program used before; None: the vendor's. `anthropic`: base URL of the Messages API, if it
        differs.

        Raises `BadRequest` for an address that is itself a wrapped path.
        """
        for given in filter(None, (upstream, anthropic)):
            if _WRAPPED.match(given):
                raise BadRequest("this runs under `memtree wrap` already: start the program itself")
        path = {"upstream": upstream or DEFAULT_UPSTREAM, "anthropic_upstream": anthropic or AUTO}
        known = (token for token, upstreams in self.paths.items() if upstreams == path)
        token = next(known, "") or self.mint()
        self.paths[token] = path
        return f"{self.server}{PREFIX}{token}"

    def base(self, upstream: str | None = None, anthropic: str | None = None) -> str:
        """Return `root` with `/v1`, as clients of the OpenAI API expect it."""
        return f"{self.root(upstream, anthropic)}/v1"


# -- the user's settings, which are only read ----------------------------------------------------


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, with or without comments; empty if there is no file. Raises
    `BadRequest` that names the file."""
    return parse_json(_text(path), path)


def parse_json(text: str, source: Path | str) -> dict[str, Any]:
    """Like `read_json`, for text that comes from `source`."""
    try:
        return _object(json.loads(text or "{}"), source)
    except (ValueError, RecursionError):
        plain = _JSONC.sub(lambda match: match[1] or " ", text)
    try:
        return _object(json.loads(_TRAILING_COMMA.sub(lambda match: match[1] or "", plain)), source)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{source}: cannot be read as JSON: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Like `read_json`, for TOML."""
    try:
        return tomllib.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{path}: cannot be read as TOML: {error}") from error


def read_yaml(path: Path) -> dict[str, Any]:
    """Like `read_json`, for YAML."""
    try:
        return _object(yaml.safe_load(_text(path)) or {}, path)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadRequest(f"{path}: cannot be read as YAML: {error}") from error


def within(settings: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the object at this path of names, empty if there is none."""
    value: Any = settings
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def string(settings: Mapping[str, Any], *names: str) -> str | None:
    """Return the text at this path of names, None if there is none."""
    value = within(settings, *names[:-1]).get(names[-1])
    return value if isinstance(value, str) and value else None


def filled(text: str | None, env: Mapping[str, str]) -> str | None:
    """Substitute `{env:NAME}` in a value, as opencode does."""
    return _VARIABLE.sub(lambda match: env.get(match[1], ""), text) if text else text


def without_option(args: Sequence[str], *names: str) -> tuple[list[str], str | None]:
    """Remove an option and its value (`--x V`, `--x=V`) from the arguments before a `--`. Returns
    the other arguments and the value."""
    kept: list[str] = []
    value: str | None = None
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*kept, word, *rest], value
        name, equals, given = word.partition("=")
        if word in names and rest:
            value = rest.pop(0)
        elif name in names and equals:
            value = given
        else:
            kept.append(word)
    return kept, value


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise BadRequest(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE:
        raise BadRequest(f"{path}: is over {MAX_FILE} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path}: is not UTF-8") from error


def _object(value: Any, path: Path | str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"{path}: is no object")
    return value
