"""Choose the upstream of a request: the OpenAI-compatible one, or the one of the Messages API.

Each has its own address and its own configured key, and a key never goes to the other's address. If
none is configured for the Messages API, its vendor is used only if the other upstream is the
default, too: an operator who set `upstream` must not have requests sent to a company that was never
named.

Requests under a path of `memtree wrap` have rules: the run they are counted for, their upstreams,
and memory switched on. The server's edge finds the path by its token and puts this into the
request's scope. The token itself is not in it, so nothing behind the edge can send it on or log it.
"""

from __future__ import annotations

from collections.abc import Container, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from starlette.requests import Request

from memtree.config import DEFAULT_UPSTREAM, Settings
from memtree.errors import NoUpstream
from memtree.setting_values import AUTO
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import AUTHORIZATION, X_API_KEY
from memtree_proxy.http.request_body import WRAP_RUN
from memtree_proxy.upstream.upstream_client import Upstream

# upstream for Codex's requests with a ChatGPT login
CHATGPT = "https://chatgpt.com/backend-api/codex"
_KEY = "memtree.wrapped_path"  # key in a request's scope
UPSTREAMS = "memtree.upstreams"  # likewise: the upstreams that replace the server's


@dataclass(frozen=True, slots=True)
class WrappedPath:
    """Path that `memtree wrap` gave to one run. `run`: its name. `settings`: the server's, with the
    upstreams of this path."""

    run: str
    settings: Settings
    upstreams: Upstreams

    @classmethod
    def of(
        cls, run: str, settings: Settings, upstream: str, anthropic_upstream: str
    ) -> WrappedPath:
        """Create a path with these upstreams (named as in the settings), without a key of the
        server's. Does not connect; `upstreams.close` closes connections. Raises `BadRequest` that
        names the setting.
        """
        given = Settings.of(upstream=upstream, anthropic_upstream=anthropic_upstream)
        own = replace(
            settings,
            upstream=given.upstream,
            anthropic_upstream=given.anthropic_upstream,
            upstream_api_key=None,
            anthropic_upstream_api_key=None,
            memory=True,
        )
        upstreams = Upstreams.of_settings(own)
        if own.upstream == DEFAULT_UPSTREAM:
            chatgpt = Destination(Upstream(CHATGPT), None)
            upstreams = replace(upstreams, chatgpt=chatgpt)
        return cls(run, own, upstreams)

    def enter(self, scope: MutableMapping[str, Any]) -> None:
        """Apply the path's rules to the request of this scope."""
        scope[_KEY], scope[UPSTREAMS] = self, self.upstreams
        scope["state"] = {**scope.get("state", {}), WRAP_RUN: self.run}


def settings_of(request: Request, default: Settings) -> Settings:
    """Return the settings of the request's wrapped path; `default` for a plain request."""
    path: WrappedPath | None = request.scope.get(_KEY)
    return path.settings if path else default


ANTHROPIC = "https://api.anthropic.com/v1"
VERSION_HEADER = "anthropic-version"
CHATGPT_ACCOUNT = "chatgpt-account-id"
PROBE = "/api/hello"  # of Claude Code, outside of the API's paths
_MESSAGES = "messages"
_SHARED = frozenset({"models", "files"})  # both APIs have these paths
_V1 = "/v1"


class Destination(NamedTuple):
    """An upstream with the key for requests to it. `key_header`: the header for `api_key`, the
    configured key."""

    upstream: Upstream
    api_key: str | None
    key_header: bytes = AUTHORIZATION


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Upstreams of the APIs; None: there is none. `probe`: answers `PROBE`. `chatgpt`: receives
    requests with a ChatGPT login, which the API does not accept."""

    openai: Destination | None = None
    anthropic: Destination | None = None
    probe: Destination | None = None
    chatgpt: Destination | None = None

    @classmethod
    def of_settings(cls, settings: Settings) -> Upstreams:
        """Create the upstreams that the settings name, without connecting. The caller must close
        them. Raises `BadRequest`."""
        openai = None
        if settings.upstream:
            openai = Destination(Upstream(settings.upstream), settings.upstream_api_key)
        named = anthropic_base(settings)
        if named is None or not is_apart(settings):
            return cls(openai, openai if named else None)
        key = settings.anthropic_upstream_api_key
        messages, beside = (
            Destination(Upstream(base, "anthropic_upstream"), key, X_API_KEY)
            for base in (named, named.removesuffix(_V1) + "/api")
        )
        return cls(openai, messages, beside)

    def of(self, path: str, headers: Container[str]) -> Destination:
        """Return the destination of a request. `path`: as it was sent. `headers`: names, in lower
        case. Raises `NoUpstream`."""
        if path == PROBE and self.probe is not None:
            return self.probe
        if is_for_anthropic(path, headers):
            if self.anthropic is None:
                raise _missing("the Messages API", "anthropic_upstream")
            return self.anthropic
        if self.chatgpt is not None and CHATGPT_ACCOUNT in headers:
            return self.chatgpt
        if self.openai is None:
            raise _missing("it", "upstream")
        return self.openai

    async def close(self) -> None:
        for destination in (self.openai, self.anthropic, self.probe, self.chatgpt):
            if destination is not None:
                await destination.upstream.close()


def is_for_anthropic(path: str, headers: Container[str]) -> bool:
    """Return True if a request uses the Messages API."""
    first = request_body.without_prefix(path).lstrip("/").partition("/")[0]
    return first == _MESSAGES or (first in _SHARED and VERSION_HEADER in headers)


def anthropic_base(settings: Settings) -> str | None:
    """Return the base URL for requests of the Messages API, None if there is none. Some programs
    configure that API's URL without `/v1`, others with it; both are accepted."""
    if not is_apart(settings):
        return settings.upstream
    given = settings.anthropic_upstream
    if given is None:
        return None
    base = ANTHROPIC if given == AUTO else given.rstrip("/")
    return base if base.endswith(_V1) else base + _V1


def is_apart(settings: Settings) -> bool:
    """Return True if the Messages API has an upstream of its own, or none; otherwise `upstream`
    answers."""
    return settings.anthropic_upstream != AUTO or settings.upstream == DEFAULT_UPSTREAM


def _missing(what: str, setting: str) -> NoUpstream:
    flag = setting.replace("_", "-")
    return NoUpstream(
        f"This server has no upstream for {what}, so it relays nothing. Set one with --{flag} URL, "
        f"MEMTREE_{setting.upper()}, or `{setting}` in memtree.toml."
    )
