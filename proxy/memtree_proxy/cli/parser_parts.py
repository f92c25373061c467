"""Parts that several commands' parsers share: settings as flags, groups of commands, actions.

A command is named by its module and function, `memtree_proxy.cli.key_commands:create`, and imported
only when it was typed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from memtree.config import Settings, variable

STORE = ("home", "store")
EMBEDDED = (*STORE, "embedder")
FILE_HELP = "JSON or JSONL of messages, or - for standard input"
WHOSE_HELP = "a key (id or label), a tenant, - for a credential that is asked for"
MAKING = ("add", "create", "import", "plan", "put")  # actions that may be the first in a store
FEW = 10  # up to this many settings need no groups
# A setting belongs to the group that has its name or the longest prefix of it.
GROUPS: dict[str, tuple[str, ...]] = {
    "where it listens, and who may come": (
        "host", "port", "open", "allowed_", "public_url", "ui", "metrics_key",
        "requests_per_minute", "trusted_proxies", "failed_keys_per_minute",
    ),
    "the model behind it": (
        "upstream", "anthropic_upstream", "model", "passthrough_routes", "window", "prices",
        "input_prices", "overflow_status", "json_wait",
    ),
    "where data is kept, and background work": (
        "home", "store", "queue", "worker_", "index_processes", "cache_mb", "expiration_days",
        "sessions",
    ),
    "memory of long conversations": (
        "memory", "mode", "target_tokens", "recall_tools", "volatile_tags", "preamble_tags",
        "alternate", "keep_", "protected_tools", "max_waits", "wait_seconds",
    ),
    "saved memories": (
        "memories_", "max_text_chars", "max_memories", "max_imports", "import_", "extraction_chars",
        "deleted_days", "agent_", "strict_",
    ),
    "embeddings: ranking by meaning": ("embedder", "embedding_"),
    "summaries by a model": ("summary_",),
    "limits of requests": ("max_", "upload_seconds", "shutdown_seconds"),
    "logs and traces": ("log_", "requests_log", "otel_"),
}  # fmt: skip
OTHER = "other settings"


class CommandGroups:
    """The commands of one parser, and the groups under which its help lists them."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subs = parser.add_subparsers(
            prog=parser.prog,
            parser_class=argparse.ArgumentParser,
            metavar="COMMAND",
            required=False,  # without a command, `memtree` prints its help
            help=argparse.SUPPRESS,
            dest="command",
        )
        self._groups: dict[str, list[tuple[str, str]]] = {}
        self._group = ""

    def begin(self, title: str) -> None:
        """Begin a group: commands added from now on are listed under this title."""
        self._group = title

    def add(self, name: str, help_: str, **given: Any) -> argparse.ArgumentParser:
        self._groups.setdefault(self._group, []).append((name, help_))
        given.setdefault("description", f"{help_[:1].upper()}{help_[1:]}.")
        # A command without `help` is left out of the single list that argparse itself would print.
        added: argparse.ArgumentParser = self._subs.add_parser(name, **given)
        return added

    @property
    def names(self) -> list[str]:
        return [name for commands in self._groups.values() for name, _ in commands]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the groups for the help text."""
        for title, commands in self._groups.items():
            yield f"{title}:"
            yield from (f"  {name:<11} {help_}" for name, help_ in commands)
            yield ""


class Actions:
    """Actions of a command that has several, such as `create` in `memtree keys create`."""

    def __init__(self, parser: argparse.ArgumentParser, module: str) -> None:
        """Add actions to `parser`. `module`: has the functions that the actions run."""
        self._subs = parser.add_subparsers(metavar="ACTION", required=True, title="actions")
        self._module = module

    def add(
        self, name: str, help_: str, run: str, settings: Sequence[str] = (), **marks: bool
    ) -> argparse.ArgumentParser:
        """Add an action and return its parser. `run`: the name of the function that runs it;
        `marks`: as `runs` has them. Other actions than those of MAKING need a store."""
        text = help_.partition(";")[0]
        added: argparse.ArgumentParser = self._subs.add_parser(
            name, help=help_, description=f"{text[:1].upper()}{text[1:]}."
        )
        marks.setdefault("needs_store", "store" in settings and name not in MAKING)
        runs(added, f"{self._module}:{run}", settings, **marks)
        return added


def json_switch(parser: Any) -> None:
    switch(parser, "--json", "one JSON object a line")


def switch(parser: Any, name: str, help_: str) -> None:
    """Add an option without a value to a parser, or to a group of its options."""
    parser.add_argument(name, action="store_true", help=help_)


def runs(parser: argparse.ArgumentParser, run: str, settings: Sequence[str], **marks: bool) -> None:
    """Name what a command runs, and add the settings that it takes. `marks`: `runs_on`, `wraps`,
    `needs_store`; see `build_parser`."""
    add_settings(parser, settings)
    parser.set_defaults(run=run, **marks)


def named_settings(*beginnings: str) -> list[str]:
    """Return the settings whose names begin with one of these."""
    return [setting.name for setting in fields(Settings) if setting.name.startswith(beginnings)]


def add_settings(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add a flag for each of these settings, with its help, variable and default; many are
    grouped."""
    for title, settings in grouped([one for one in fields(Settings) if one.name in names]).items():
        group = parser.add_argument_group(title)
        for setting in settings:
            flag = f"--{setting.name.replace('_', '-')}"
            text = f"{setting.metadata['help']} ({variable(setting.name)}; {_default(setting)})"
            given: dict[str, Any] = {"metavar": "VALUE"}
            if setting.type == "bool":
                given = {"action": argparse.BooleanOptionalAction, "default": None}
            group.add_argument(flag, dest=setting.name, help=text.replace("%", "%%"), **given)


def given_settings(options: argparse.Namespace) -> Mapping[str, Any]:
    """Return the flags' values, None for those not given."""
    return {setting.name: getattr(options, setting.name, None) for setting in fields(Settings)}


def _default(setting: Field[Any]) -> str:
    value = setting.default
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, bool):
        value = "on" if value else "off"
    shown = setting.metadata.get("default") or ("none" if value in (None, "") else value)
    return f"default {shown}"


def grouped(settings: Sequence[Field[Any]]) -> dict[str, list[Field[Any]]]:
    """Group the settings by title, in the order of GROUPS; a few settings share one title."""
    if len(settings) <= FEW:
        return {"settings": list(settings)}
    by_title: dict[str, list[Field[Any]]] = {title: [] for title in (*GROUPS, OTHER)}
    for setting in settings:
        by_title[group_of(setting.name)].append(setting)
    return {title: members for title, members in by_title.items() if members}


def group_of(name: str) -> str:
    """Return the title of a setting's group."""
    fitting = [
        (len(beginning), title)
        for title, beginnings in GROUPS.items()
        for beginning in beginnings
        if name == beginning or name.startswith(f"{beginning.rstrip('_')}_")
    ]
    return max(fitting)[1] if fitting else OTHER
