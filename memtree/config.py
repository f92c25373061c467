"""Every setting, in one frozen value; the only file that reads the environment.

Precedence: flags, then `MEMTREE_*` variables, then `memtree.toml`, then the defaults here. The
names are those of API section 6. A value that cannot be read is a `BadRequest` naming the setting.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from memtree.data_folder import (
    IN_THIS_FOLDER,
    STORE_FILE,
    data_folder,
    default_store,
    how_to_move,
    is_left_behind,
)
from memtree.errors import BadRequest
from memtree.history.keep_options import keep_options
from memtree.history.volatile_blocks import PREAMBLE_TAGS, VOLATILE_TAGS
from memtree.process.bounded import MEGABYTES, CacheLimits
from memtree.setting_values import (
    CHECKS,
    PASSTHROUGH_ROUTES,
    READERS,
    TYPES,
    base_url,
    check_choice,
    check_queue,
    nearest,
    without_password,
)

DEFAULT_UPSTREAM = "https://api.openai.com/v1"
BASE_URLS = ("upstream", "anthropic_upstream", "embedding_base_url", "summary_base_url")
CONFIG_FILE = "memtree.toml"
PREFIX = "MEMTREE_"  # of all variables
FILE_VARIABLE = "MEMTREE_CONFIG"
# No settings of the program: of benchmarks, tests, and what starts it (compose file, balancer)
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}"
    for name in "BENCH_DATA BIND CHROMIUM IMAGE LISTEN PROXIES SITE TEST_POSTGRES".split()
)
MODES = ("stable", "auto", "fresh")
ON = "on"


def _setting(default: Any, help_: str, *, shown: bool = True, default_text: str = "") -> Any:
    """`default_text`: the default in words, where it depends on the machine."""
    return field(default=default, metadata={"help": help_, "default": default_text}, repr=shown)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. Sizes in bytes, lengths in tokens, times in seconds."""

    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8787, "port to listen on")
    open: bool = _setting(False, "listen beyond loopback without access keys")
    allowed_hosts: tuple[str, ...] = _setting(
        (),
        "more names that a server without access keys answers to, as in memory.example.com; it "
        "always answers to IP addresses, names without a dot, *.localhost and *.local",
    )
    allowed_origins: tuple[str, ...] = _setting(
        (),
        "origins of web pages and apps that may call this server from a browser, as in "
        "http://localhost:3000, app://x or null; vscode-webview: stands for all of that scheme",
    )
    public_url: str | None = _setting(
        None,
        "address by which browsers reach this server through a proxy that rewrites Host, as in "
        "https://memory.example.com",
    )
    ui: bool = _setting(True, "serve the web pages at /ui")
    upstream: str | None = _setting(
        DEFAULT_UPSTREAM, "base URL of the OpenAI-compatible API behind us, or none"
    )
    model: str | None = _setting(
        None, "model that a first chat on the chat page begins with; none: a person chooses"
    )
    upstream_api_key: str | None = _setting(
        None, "key for the upstream; used instead of the client's once access keys exist"
    )
    anthropic_upstream: str | None = _setting(
        "auto",
        "base URL of the Messages API (Anthropic's) behind us, none, or auto: the vendor's where "
        "upstream is not set, else upstream",
    )
    anthropic_upstream_api_key: str | None = _setting(
        None,
        "key for an upstream of the Messages API that is not upstream, sent as x-api-key; used "
        "instead of the client's once access keys exist",
    )
    passthrough_routes: tuple[str, ...] = _setting(
        PASSTHROUGH_ROUTES,
        "requests that may go on with the upstream's own key beside chats: METHOD /path, where "
        "{id} is an object that this tenant made here and /* at the end any rest; `* /*` lends "
        "the key for everything",
    )
    home: str | None = _setting(
        None,
        "folder of memtree.db where no store is named; a memtree.db in the current folder goes "
        "before it",
        default_text="the user's folder for data of programs",
    )
    store: str = _setting(
        IN_THIS_FOLDER,
        "where the tree is kept: sqlite:///PATH, memory:, or for many processes "
        "postgresql://USER:PASSWORD@HOST/DATABASE",
        shown=False,
        default_text="memtree.db in home",
    )
    queue: str = _setting(
        "inprocess",
        "where background work runs: inprocess, or in `memtree worker` processes that are reached "
        "through Redis: redis://[:PASSWORD@]HOST:PORT/DB, rediss://... or unix:///PATH",
        shown=False,
    )
    worker_lanes: int = _setting(8, "histories that one worker process summarises at once")
    worker_seconds: int = _setting(
        25, "seconds that a worker which is to stop has for calls that are under way"
    )
    embedder: str = _setting(
        "auto",
        "local (models in this process), remote (embedding_base_url), none (BM25 alone), or auto: "
        "remote where embedding_model is set, else local",
    )
    embedding_base_url: str | None = _setting(
        None, "base URL of an OpenAI-compatible API for embeddings, up to and with /v1"
    )
    embedding_api_key: str | None = _setting(
        None, "key for the embeddings; unset: none is sent", shown=False
    )
    embedding_model: str | None = _setting(None, "model for the embeddings")
    embedding_dimensions: int = _setting(
        0, "numbers in a vector, asked of models that can shorten theirs; 0: the model's own"
    )
    embedding_tokens: int = _setting(
        2_000, "tokens (o200k) of a text that go to the embedding model; the rest is cut off"
    )
    embedding_relevant: float = _setting(
        0.0, "cosine under which a passage hardly ever answers a query; 0: measured at the start"
    )
    embedding_seconds: float = _setting(
        0.3,
        "seconds that saving a memory, searching memories, and a chat with memories wait for the "
        "embedder; then words alone decide, and vectors follow",
    )
    summary_base_url: str | None = _setting(
        None, "base URL of an OpenAI-compatible API for summaries, up to and with /v1"
    )
    summary_api_key: str | None = _setting(
        None, "key for the summaries; unset: none is sent", shown=False
    )
    summary_model: str | None = _setting(
        None, "model for the summaries; unset: summaries are extracted, without a model"
    )
    summary_text: str = _setting(
        "model",
        "what a memory message shows of a node: model (its summary alone), or both (the extracted "
        "one as well)",
    )
    summary_leaves: int = _setting(4, "parts of a history that one call summarises, at most")
    summary_parallel: int = _setting(4, "calls for summaries at once")
    summary_seconds: int = _setting(120, "seconds that one call for summaries may take")
    summary_requests_per_minute: int = _setting(
        0, "calls for summaries in a minute; 0: no limit but the server's own"
    )
    summary_tokens_per_minute: int = _setting(
        0, "tokens of calls for summaries in a minute; 0: no limit but the server's own"
    )
    summary_tokens_per_day: int = _setting(
        0, "tokens that summaries of one tenant may cost in a day (UTC); 0: no limit"
    )
    summary_money_per_day: float = _setting(
        0.0,
        "money that summaries of one tenant may cost in a day, at the prices below; 0: no limit",
    )
    summary_input_price: float = _setting(0.0, "price of a million input tokens for summaries")
    summary_cached_price: float = _setting(
        0.0,
        "price of a million input tokens that came from the server's prompt cache; 0: as others",
    )
    summary_output_price: float = _setting(0.0, "price of a million output tokens for summaries")
    recall_tools: bool = _setting(
        False, "offer the model of a chat tools that search and read what memory folded away"
    )
    target_tokens: int = _setting(20_000, "size of a compressed history, system messages aside")
    mode: str | None = _setting(
        None,
        "how memory is unfolded: stable, auto or fresh; unset: stable on /context_memory, auto on "
        "the chat routes",
    )
    requests_log: str = _setting(
        ON,
        "on: a row of numbers for each request is kept for 30 days, to be seen at /v1/requests and "
        "by `memtree requests`, without any text; or off",
    )
    sessions: str = _setting(
        "off",
        "on: `memtree mcp` has a tool that searches the transcripts of coding agents on this "
        "machine; or off. A line of memtree.toml does not count",
    )
    prices: tuple[str, ...] = _setting(
        (),
        "what your provider charges for cached input, as multiples of uncached input: "
        "NAME=WRITE/READ or NAME=WRITE/READ/SECONDS, NAME a model's beginning or * for all others",
    )
    input_prices: tuple[str, ...] = _setting(
        (),
        "what a million tokens of uncached input cost, to tell savings in money: NAME=PRICE, NAME "
        "a model's beginning",
    )
    window: tuple[str, ...] = _setting(
        (),
        "context windows in tokens of models that are not built in, or differ from it: "
        "NAME=TOKENS, NAME a model's beginning or * for all others",
    )
    memory: bool = _setting(False, "context memory on for chat requests that do not say")
    expiration_days: int = _setting(30, "days after which unused memory may be forgotten")
    volatile_tags: tuple[str, ...] = _setting(
        VOLATILE_TAGS, "tags whose blocks in user messages are neither hashed nor indexed"
    )
    preamble_tags: tuple[str, ...] = _setting(
        PREAMBLE_TAGS, "those of them that stay visible when the first user message is folded"
    )
    memories_placement: str = _setting(
        "system",
        "where memories that a chat opted into stand while nothing of it is folded: system (behind "
        "the system message) or user (before the newest user message)",
    )
    memories_extraction: str = _setting(
        "auto",
        "what finds memories in the conversations of users who switched that on: model (the one "
        "for summaries), rules, auto (the model where one is configured, else rules) or off",
    )
    memories_users: str = _setting(
        "off",
        "on: memories are made of the conversations of all users, and stand in their prompts, "
        "unless a user or a request says otherwise; off: of those who switch it on",
    )
    memories_branches: str = _setting(
        "same",
        "memories that were said in a conversation stand beside: same (other conversations, not "
        "other branches of their own), strict (that very branch alone) or off (any)",
    )
    memories_standing: str = _setting("on", "on: standing memories in each prompt; or off")
    memories_stale_days: int = _setting(
        180,
        "days after which a prompt says of a memory of a job, place, version, port or plan that it "
        "may be out of date; 0: never",
    )
    max_text_chars: int = _setting(16_000, "longest text of one memory, in characters")
    max_memories: int = _setting(100_000, "most memories of one tenant")
    import_lines: int = _setting(
        2_000,
        "most entries of one imported file; one that is large may have one more for each 256 bytes",
    )
    import_seconds: int = _setting(
        60,
        "seconds of CPU that imports, extractions and documents of one tenant may take in a "
        "minute; 0: no limit",
    )
    max_imports: int = _setting(
        4,
        "imports, extractions, parsed files and posts of documents a tenant may have at once",
    )
    extraction_chars: int = _setting(
        20_000,
        "characters that one request to extract memories reads, each message counted as 80 more; "
        "the same request again goes on",
    )
    deleted_days: int = _setting(
        30, "days in which a deleted memory can be brought back; 0: it is erased at once"
    )
    agent_secrets: str = _setting(
        "refuse", "data that agents store with a secret in it: refuse, or allow"
    )
    memories_cache_mb: int = _setting(256, "megabytes that indexes of memories may take")
    strict_embedding: bool = _setting(
        False, "refuse to save a memory while the embedder fails, instead of embedding it later"
    )
    strict_schemas: bool = _setting(
        False,
        "refuse structured memories of a kind without a schema, also while there is no schema",
    )
    max_body_bytes: int = _setting(128 * 1024 * 1024, "largest request body that is read")
    max_header_bytes: int = _setting(64 * 1024, "largest request line and headers, together")
    max_messages: int = _setting(200_000, "most messages of one request")
    trusted_proxies: tuple[str, ...] = _setting(
        (),
        "addresses or networks of proxies in front of this server whose x-forwarded-for tells the "
        "client, as in 10.0.0.0/8; from others the header means nothing",
    )
    failed_keys_per_minute: int = _setting(
        30, "wrong keys that one address may try in a minute; 0: no limit"
    )
    upload_seconds: int = _setting(
        30, "seconds in which headers must be complete, and in which an upload must move on"
    )
    requests_per_minute: int = _setting(0, "requests of one tenant in a minute; 0: no limit")
    max_waits: int = _setting(16, "requests of one tenant that may wait for their tree at once")
    wait_seconds: int = _setting(300, "longest wait for a tree that is being built")
    shutdown_seconds: int = _setting(
        30, "seconds that answers under way have when the server is told to stop"
    )
    json_wait: str = _setting(
        "silent",
        "how an answer that is not streamed waits: silent (shorter than the client's patience) or "
        "spaces (200 at once, then white space; an error comes in the body)",
    )
    overflow_status: int = _setting(
        413, "status of context_length_exceeded: 413, or 400 for old clients"
    )
    keep_patterns: tuple[str, ...] = _setting(
        (),
        "what stays in each memory message of chats that do not say: globs over paths of files "
        "(the newest result that shows the file), and literal parts of lines",
    )
    protected_tools: tuple[str, ...] = _setting(
        (), "tools whose results stay there, for chats that do not say"
    )
    alternate: bool = _setting(
        False, "put a short assistant message between the memory message and a user message"
    )
    keep_first_message: bool = _setting(
        False, "send the first message whole and first where it is short: for role-play cards"
    )
    metrics_key: str | None = _setting(
        None, "bearer that opens /metrics; needed there beyond loopback and once access keys exist"
    )
    cache_mb: int = _setting(
        MEGABYTES, "megabytes that caches of posted conversations may take in one process"
    )
    index_processes: bool = _setting(True, "index very long histories in a child process")
    log_level: str = _setting("info", "debug, info, warning or error")
    log_format: str = _setting("text", "text, or json: one object a line")
    otel_endpoint: str | None = _setting(
        None,
        "where OpenTelemetry traces go, over OTLP/HTTP, as in http://127.0.0.1:4318/v1/traces; "
        "needs the extra `otel`",
    )
    otel_propagate: bool = _setting(
        False, "send the upstream a traceparent where the client sent none; needs otel_endpoint"
    )

    @property
    def cache_limits(self) -> CacheLimits:
        """Bytes for each cache of posted conversations."""
        return CacheLimits.of(self.cache_mb)

    @property
    def data_folder(self) -> Path | None:
        """Folder of the user's data; None if nothing says where it is."""
        return data_folder(self.home, os.environ, sys.platform)

    @classmethod
    def of(cls, **values: Any) -> Settings:
        """Make settings of these values alone. Raises `BadRequest` that names the setting."""
        _check_names(values, "")
        return _checked(cls(**{k: _read(k, v, k) for k, v in values.items()}))

    @classmethod
    def from_env(
        cls,
        flags: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        *,
        tell: Callable[[str], None] = lambda _: None,
        folder_counts: bool = True,
    ) -> Settings:
        """Settings of this process. `flags` that are None were not given. `tell` gets lines for
        whoever started it. `folder_counts`: False where the current folder may be a stranger's, so
        `memtree.toml` in it, or wherever a variable says, is not read, and it is said that it lies
        there. The command names its store itself.

        Raises `BadRequest` that names the setting and where it came from.
        """
        env = os.environ if env is None else env
        values = _from_file(env.get(FILE_VARIABLE)) if folder_counts else {}
        for setting in fields(cls):
            name = variable(setting.name)
            if name in env:
                values[setting.name] = _read(setting.name, env[name], name)
        values.update({k: v for k, v in (flags or {}).items() if v is not None})
        settings = cls.of(**values)
        for line in _notes(values, settings, env):
            tell(line)
        ignored = [name for name in (CONFIG_FILE, STORE_FILE) if Path(name).exists()]
        if ignored and not folder_counts:
            tell(f"{' and '.join(ignored)} in this folder: not used, as it may be a stranger's")
        if values.get("store"):  # an empty one names none, as in the example of the environment
            return settings
        folder = data_folder(settings.home, env, sys.platform)
        if folder is not None and is_left_behind(folder):
            tell(how_to_move(folder, sys.platform))
        return replace(settings, store=default_store(folder))


def environment() -> dict[str, str]:
    """Return a copy of the environment, for a program that is started with more variables."""
    return dict(os.environ)


def config_file(env: Mapping[str, str] | None = None) -> Path | None:
    """The file that settings are read from, None where there is none."""
    path = Path((os.environ if env is None else env).get(FILE_VARIABLE) or CONFIG_FILE)
    return path if path.exists() else None


def unknown_variables(env: Mapping[str, str] | None = None) -> list[str]:
    """Names that begin like our variables and are none: most likely typing errors."""
    ours = {variable(setting.name) for setting in fields(Settings)}
    known = {FILE_VARIABLE, *OTHER_VARIABLES, *ours}
    names = os.environ if env is None else env
    return sorted(name for name in names if name.startswith(PREFIX) and name not in known)


def _notes(values: Mapping[str, Any], settings: Settings, env: Mapping[str, str]) -> Iterator[str]:
    """Yield what whoever gave these values should know of them."""
    ours = [variable(setting.name) for setting in fields(Settings)]
    names = unknown_variables(env)
    shown = [f"{name} ({meant}?)" if (meant := nearest(name, ours)) else name for name in names]
    if shown:
        yield f"there is no such setting: {', '.join(shown)}"
    for name in BASE_URLS:
        if (used := getattr(settings, name)) and values.get(name, used) != used:
            yield f"{name} is a base URL: {without_password(used)} without the route behind it"


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def _from_file(given: str | None) -> dict[str, Any]:
    path = Path(given or CONFIG_FILE)
    if not path.exists():
        if given:
            raise BadRequest(f"MEMTREE_CONFIG: there is no file {given}", param="MEMTREE_CONFIG")
        return {}
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadRequest(f"{path}: {error}", param=str(path)) from error
    _check_names(values, f"{path}: ")
    return values


def _check_names(values: Mapping[str, Any], source: str) -> None:
    known = {setting.name for setting in fields(Settings)}
    for name in values:
        if name not in known:
            meant = nearest(name, known)
            hint = f"; did you mean {meant}?" if meant else ""
            raise BadRequest(f"{source}there is no setting {name!r}{hint}", param=name)


def _read(name: str, value: Any, source: str) -> Any:
    kind = str(next(setting.type for setting in fields(Settings) if setting.name == name))
    if isinstance(value, list):
        value = tuple(value)
    shown = "what is given" if name.endswith("_key") or name == "queue" else repr(value)
    if not isinstance(value, str):
        items = value if isinstance(value, tuple) else ()
        if type(value) in TYPES[kind] and all(isinstance(item, str) for item in items):
            return value
        raise BadRequest(f"{source}: {shown} is not a valid value for {name}", param=name)
    try:
        return READERS[kind](value)
    except (ValueError, KeyError) as error:
        raise BadRequest(
            f"{source}: {shown} is not a valid value for {name}", param=name
        ) from error


def _checked(settings: Settings) -> Settings:
    given: dict[str, Any] = {n: base_url(url) for n in BASE_URLS if (url := getattr(settings, n))}
    settings = replace(settings, **given)
    if settings.mode is not None:
        check_choice("mode", settings.mode, MODES)
    check_queue(settings.queue)
    keep_options(settings.keep_patterns, settings.protected_tools)
    for check in CHECKS:
        check(settings)
    return settings
