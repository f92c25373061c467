"""Plans that give each coding agent another base URL for one run, without changing its user's
files.

Each agent is a row of a table; its facts were found by running the agent. A base URL in the user's
own settings or environment becomes the upstream of the wrapped path. Files in or above the project
are not read: a stranger's repository must not decide where the user's key is sent.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from memtree.errors import BadRequest
from memtree_proxy.cli.wrap_plan import (
    Plan,
    Wrapping,
    filled,
    parse_json,
    read_json,
    read_toml,
    read_yaml,
    string,
    within,
    without_option,
)

ANTHROPIC_API = ("anthropic", "@ai-sdk/anthropic", "anthropic-messages", "anthropic_messages")
# This interpreter, which may be uvx's; -P: no module of the project is imported in place of ours.
STATUS_LINE = shlex.join([sys.executable, "-P", "-m", "memtree_proxy.cli.status"])
_OPENAI, _ANTHROPIC = "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"
_HERMES_PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent. `api`: the route that it calls. `how`: how it is given the base URL.
    `shown_only`: the plan is untested, so it is printed and nothing is started."""

    name: str
    program: str
    api: str
    how: str
    plan: Callable[[Wrapping], Plan]
    shown_only: bool = False


def _claude(run: Wrapping) -> Plan:
    """Plan for Claude Code: its settings' `env` overrides the environment, and a settings file
    named on the command line overrides all settings. Arguments would show the token to other
    users."""
    args, given = without_option(run.args, "--settings")
    settings = _named_settings(given)
    user = read_json(run.under("CLAUDE_CONFIG_DIR", ".claude") / "settings.json")
    known = {**run.env, **within(user, "env"), **within(settings, "env")}
    for cloud in _CLOUDS:
        if known.get(cloud) not in (None, "", "0", "false"):
            raise BadRequest(
                f"Claude Code goes to another cloud here ({cloud}), by other addresses"
            )
    root = run.root(anthropic=string(known, _ANTHROPIC))
    settings["env"] = {**within(settings, "env"), _ANTHROPIC: root}
    if "statusLine" not in {**user, **settings}:
        settings["statusLine"] = {"type": "command", "command": STATUS_LINE}
    files = {"settings.json": json.dumps(settings)}
    named = ["--settings", run.file("settings.json")]
    plugins = within(user, "enabledPlugins")
    if not any(name.startswith("memtree@") and on for name, on in plugins.items()):
        tools = {"mcpServers": {"memtree": {"type": "http", "url": f"{root}/mcp"}}}
        files["mcp.json"] = json.dumps(tools)
        # With `=`: after a space the option would also take words of a prompt as files.
        named.append(f"--mcp-config={run.file('mcp.json')}")
    return Plan([*named, *args], {_ANTHROPIC: root}, files)


def _named_settings(given: str | None) -> dict[str, Any]:
    """Return the settings in Claude Code's own `--settings`: JSON, or the name of a JSON file."""
    if given is None or not given.lstrip().startswith("{"):
        return read_json(Path(given)) if given else {}
    return parse_json(given, "--settings")


def _codex(run: Wrapping) -> Plan:
    """Plan for Codex: it lists sessions by provider, so the provider stays and only its address
    changes."""
    config = read_toml(run.under("CODEX_HOME", ".codex") / "config.toml")
    _, profile = without_option(run.args, "-p", "--profile")
    profiled = within(config, "profiles", profile or string(config, "profile") or "")
    name = string(profiled, "model_provider") or string(config, "model_provider") or "openai"
    if name == "openai":
        address = run.base(string(profiled, "openai_base_url") or string(config, "openai_base_url"))
        place = "openai_base_url"
    else:
        if "." in name:  # Codex splits a key at its dots, quoted or not
            raise BadRequest(f"the provider {name!r} of Codex has a dot in its name")
        address = run.base(_needed(string(config, "model_providers", name, "base_url"), name))
        place = f"model_providers.{name}.base_url"
    pinned = ["-c", f"model_provider={json.dumps(name)}", "-c", f"{place}={json.dumps(address)}"]
    return Plan([*pinned, *run.args])


def _opencode(run: Wrapping, name: str = "opencode") -> Plan:
    """Plan for opencode, and for Kilo, a fork of it: they merge the content of this variable over
    all files, a project's included."""
    prefix = name.upper()
    folder = run.under("XDG_CONFIG_HOME", ".config") / name
    files = [folder / each for each in ("config.json", f"{name}.json", f"{name}.jsonc")]
    files += [Path(run.env[f"{prefix}_CONFIG"])] if run.env.get(f"{prefix}_CONFIG") else []
    variable = f"{prefix}_CONFIG_CONTENT"
    content = parse_json(run.env.get(variable, ""), variable)
    bases: dict[str, str | None] = {"openai": None, "anthropic": None}
    for config in [*map(read_json, files), content]:
        for provider, row in within(config, "provider").items():
            given = filled(string(within(row), "options", "baseURL"), run.env)
            if given:
                bases[provider] = given
    own = within(content, "provider")
    for provider, base in bases.items():
        row = within(own, provider)
        options = {**within(row, "options"), "baseURL": run.base(base)}
        own[provider] = {**row, "options": options}
    return Plan(run.args, {variable: json.dumps({**content, "provider": own})})


def _qwen(run: Wrapping) -> Plan:
    """Plan for Qwen Code: the flag overrides its settings and environment."""
    user = read_json(run.home / ".qwen" / "settings.json")
    args, given = without_option(run.args, "--openai-base-url")
    known = [
        given,
        run.env.get(_OPENAI),
        string(user, "env", _OPENAI),
        string(user, "security", "auth", "baseUrl"),
    ]
    address = run.base(next(filter(None, known), None))
    return Plan(["--openai-base-url", address, *args], {_OPENAI: address})


def _pi(run: Wrapping) -> Plan:
    """Plan for Pi: an extension registers the providers again. Each is registered with its key,
    since a provider of the user's file would lose it otherwise."""
    models = read_json(run.under("PI_CODING_AGENT_DIR", ".pi", "agent") / "models.json")
    rows: dict[str, dict[str, Any]] = {
        "openai": {"baseUrl": run.base()},
        "anthropic": {"baseUrl": run.root()},
    }
    for name, provider in within(models, "providers").items():
        given = string(within(provider), "baseUrl")
        if given:
            key = string(provider, "apiKey")
            address = _address(run, given, string(provider, "api"))
            rows[name] = {"baseUrl": address, **({"apiKey": key} if key else {})}
    calls = "".join(
        f"  pi.registerProvider({json.dumps(name)}, {json.dumps(row)});\n"
        for name, row in rows.items()
    )
    text = f"export default (pi) => {{\n{calls}}};\n"
    return Plan(["-e", run.file("memtree.ts"), *run.args], {}, {"memtree.ts": text})


def _address(run: Wrapping, given: str, api: str | None) -> str:
    return run.root(anthropic=given) if api in ANTHROPIC_API else run.base(given)


def _continue(run: Wrapping) -> Plan:
    """Plan for Continue: it reads a given file instead of the user's, here a copy with other
    addresses."""
    args, given = without_option(run.args, "--config")
    path = Path(given) if given else run.under("CONTINUE_GLOBAL_DIR", ".continue") / "config.yaml"
    config = read_yaml(path)
    models = config.get("models")
    if not isinstance(models, list):
        raise BadRequest(f"{path}: names no models, so there is none to put memory before")
    config["models"] = [_continue_model(run, within(model)) for model in models]
    return Plan(  # JSON is also YAML
        ["--config", run.file("config.yaml"), *args], {}, {"config.yaml": json.dumps(config)}
    )


def _continue_model(run: Wrapping, model: dict[str, Any]) -> dict[str, Any]:
    given, provider = string(model, "apiBase"), string(model, "provider")
    if given is None and provider not in ("openai", "anthropic"):
        return model
    anthropic = provider == "anthropic"
    return {**model, "apiBase": run.base(anthropic=given) if anthropic else run.base(given)}


def _aider(run: Wrapping) -> Plan:
    """Plan for Aider: a flag overrides `.aider.conf.yml` and `.env`, which it also reads in the
    project."""
    user = read_yaml(run.home / ".aider.conf.yml")
    args, given = without_option(run.args, "--openai-api-base")
    openai = given or run.env.get("AIDER_OPENAI_API_BASE") or run.env.get("OPENAI_API_BASE")
    address = run.base(openai or string(user, "openai-api-base"))
    messages = run.root(anthropic=run.env.get("ANTHROPIC_API_BASE") or run.env.get(_ANTHROPIC))
    return Plan(
        ["--openai-api-base", address, *args],
        {"OPENAI_API_BASE": address, "ANTHROPIC_API_BASE": messages, _ANTHROPIC: messages},
    )


def _cline(run: Wrapping) -> Plan:
    """Plan for Cline: it accepts another data folder. This one links to everything in the user's
    folder and holds a changed copy of the file that names the providers."""
    args, given = without_option(run.args, "--data-dir")
    data = Path(given) if given else run.home / ".cline" / "data"
    providers = read_json(data / "settings" / "providers.json")
    rows = within(providers, "providers")
    for row in rows.values():
        settings = within(within(row), "settings")
        base = string(settings, "baseUrl")
        anthropic = string(settings, "provider") == "anthropic"
        if base or string(settings, "provider") in ("openai-native", "anthropic"):
            settings["baseUrl"] = run.base(anthropic=base) if anthropic else run.base(base)
    if not rows:
        raise BadRequest(f"{data}: names no provider; run `cline auth` first")
    kept = _entries(data, "settings") | _entries(data / "settings", "providers.json", "settings/")
    kept.setdefault("sessions", data / "sessions")
    return Plan(
        ["--data-dir", str(run.folder / "data"), *args],
        {},
        {"data/settings/providers.json": json.dumps(providers)},
        {f"data/{name}": path for name, path in kept.items()},
    )


def _entries(folder: Path, left_out: str, prefix: str = "") -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    return {f"{prefix}{each.name}": each for each in folder.iterdir() if each.name != left_out}


def _openclaw(run: Wrapping) -> Plan:
    """Plan for OpenClaw: a file that includes the user's. A gateway that is already running keeps
    its settings."""
    state = run.under("OPENCLAW_STATE_DIR", ".openclaw")
    user = Path(run.env.get("OPENCLAW_CONFIG_PATH") or state / "openclaw.json")
    rows = within(read_json(user), "models", "providers")
    providers: dict[str, dict[str, str]] = {}
    for name, row in rows.items():
        given = string(within(row), "baseUrl")
        if given:
            providers[name] = {"baseUrl": _address(run, given, string(row, "api"))}
    if not providers:
        raise BadRequest(f"{user}: no provider of models.providers has a baseUrl to replace")
    config = {"$include": str(user.absolute()), "models": {"providers": providers}}
    return Plan(
        run.args,
        {
            "OPENCLAW_CONFIG_PATH": run.file("openclaw.json"),
            "OPENCLAW_INCLUDE_ROOTS": str(user.absolute().parent),
        },
        {"openclaw.json": json.dumps(config)},
        notes=["a gateway of openclaw that runs already keeps its own addresses"],
    )


def _hermes(run: Wrapping) -> Plan:
    """Plan for Hermes: managed settings override the user's, and replace a list as a whole."""
    user = read_yaml(run.under("HERMES_HOME", ".hermes") / "config.yaml")
    managed = read_yaml(run.under("HERMES_MANAGED_DIR", "/etc/hermes") / "config.yaml")
    model = {**within(user, "model"), **within(managed, "model")}
    provider = string(model, "provider") or "auto"
    given = string(model, "base_url") or run.env.get("CUSTOM_BASE_URL")
    address = run.base(_needed(given or _HERMES_PROVIDERS.get(provider), provider))
    custom = managed.get("custom_providers") or user.get("custom_providers") or []
    rows = [within(row) for row in custom] if isinstance(custom, list) else []
    config = {
        **managed,
        "model": {**within(managed, "model"), "base_url": address},
        "custom_providers": [
            {**row, "base_url": run.base(string(row, "base_url"))} if "base_url" in row else row
            for row in rows
        ],
    }
    return Plan(
        run.args,
        {"HERMES_MANAGED_DIR": str(run.folder)},
        {"config.yaml": json.dumps(config)},
    )


def _goose(run: Wrapping) -> Plan:
    root = run.root(run.env.get("OPENAI_HOST"), run.env.get("ANTHROPIC_HOST"))
    path = {"OPENAI_BASE_PATH": "v1/chat/completions"}
    return Plan(run.args, {"OPENAI_HOST": root, **path, "ANTHROPIC_HOST": root})


def sdk(run: Wrapping) -> Plan:
    """Plan for any program that uses the SDKs of OpenAI and Anthropic. `args`: the whole
    command."""
    openai = run.env.get(_OPENAI) or run.env.get("OPENAI_API_BASE")
    address = run.base(openai)
    root = run.root(anthropic=run.env.get(_ANTHROPIC))
    return Plan(run.args[1:], {_OPENAI: address, "OPENAI_API_BASE": address, _ANTHROPIC: root})


def _needed(base: str | None, provider: str) -> str:
    if base is None:
        raise BadRequest(f"the provider {provider!r} has no base_url in the user's settings")
    return base


AGENTS: Sequence[Agent] = (
    Agent("claude", "claude", "messages", "--settings FILE, --mcp-config=FILE", _claude),
    Agent("codex", "codex", "responses", "-c openai_base_url=URL", _codex),
    Agent("opencode", "opencode", "any", "OPENCODE_CONFIG_CONTENT", _opencode),
    Agent("qwen", "qwen", "chat", "--openai-base-url URL", _qwen),
    Agent("pi", "pi", "any", "-e FILE, an extension", _pi),
    Agent("continue", "cn", "chat, messages", "--config FILE, a copy of the user's", _continue),
    Agent("aider", "aider", "chat, messages", "--openai-api-base URL", _aider),
    Agent("cline", "cline", "chat, messages", "--data-dir FOLDER, links and a copy", _cline),
    Agent("openclaw", "openclaw", "any", "OPENCLAW_CONFIG_PATH, includes the user's", _openclaw),
    Agent("hermes", "hermes", "chat", "HERMES_MANAGED_DIR", _hermes),
    Agent("goose", "goose", "chat, messages", "OPENAI_HOST, ANTHROPIC_HOST", _goose, True),
    Agent("kilo", "kilo", "any", "KILO_CONFIG_CONTENT", partial(_opencode, name="kilo"), True),
)
BY_NAME = {name: agent for agent in AGENTS for name in (agent.name, agent.program)}
